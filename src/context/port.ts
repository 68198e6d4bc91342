/** The facts in a system prompt. */
export interface PromptFacts {
  cwd: string;
  tools: readonly { name: string; description: string }[];
}

/** Makes the system prompt; a problem is a message for people why there is none. */
export type SystemPrompt = (facts: PromptFacts) => { text: string } | { problem: string };
