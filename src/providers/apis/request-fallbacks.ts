import { refusalWords } from '../failures.js';

/** How a request is put: what may be left out of it although the conversation is sound, because a provider refuses it. */
export interface RequestFeatures {
  /** What the model thought goes back to it. */
  thoughts: boolean;
  /** It is told how much to think, and how much to say. */
  level: boolean;
  /** Calls keep the ids that other models gave them. */
  ids: boolean;
}

export const allFeatures: RequestFeatures = { thoughts: true, level: true, ids: true };

/** They were bound to a prompt that has changed, or the provider's keys have. */
const thoughtsRefused =
  /invalid `?(signature|data`? in `?redacted)|blocks?.*cannot be modified|different conversation|expected `?thinking|invalid_encrypted_content|encrypted content .*could not|of type 'reasoning'|required 'reasoning' item|not persisted when|messages\W+\d+\W.*reasoning|property '?reasoning/i;

const levelRefused =
  /encrypted content is not supported|(does not|doesn't) support (thinking|reasoning)|thinking\.(type\.)?\w+\W* is not supported|to turn thinking off|(unsupported|unknown|unrecognized|extra inputs?)[^.]*(reasoning|thinking|effort|verbosity)|(reasoning|thinking|effort|verbosity)[^.]*(not supported|unsupported|not permitted)/i;
/** Mistral takes no others than ids of nine letters and digits. */
const idsRefused = /tool.?call.?id.*(must be|length of|invalid)/i;
/** What a parameter is called of which the words do not speak. */
const levelNames = /^(reasoning|thinking|output_config|verbosity|text\.verbosity)|effort/;

/** How to ask once more after this error; undefined when that would not help. */
export function fallbackAfter(error: unknown, manner: RequestFeatures): RequestFeatures | undefined {
  const refusal = refusalWords(error);
  if (!refusal) return undefined;
  const { words, param } = refusal;
  if (manner.level && (levelRefused.test(words) || levelNames.test(param))) return { ...manner, thoughts: false, level: false };
  if (manner.ids && idsRefused.test(words)) return { ...manner, ids: false };
  if (manner.thoughts && thoughtsRefused.test(words)) return { ...manner, thoughts: false };
  return undefined;
}
