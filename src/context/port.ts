/** What a system prompt is made of. */
export interface PromptFacts {
  cwd: string;
  tools: readonly { name: string; description: string }[];
}

/** What a model is told before anything else; a problem says for people why it cannot be. */
export type SystemPrompt = (facts: PromptFacts) => { text: string } | { problem: string };
