import { readRefusal } from '../failures.js';

/** Optional features of a request, which are switched off for a retry when a provider refuses them. */
export interface RequestFeatures {
  /** Thinking blocks are sent back. */
  thoughts: boolean;
  /** Thinking level and verbosity are sent. */
  level: boolean;
  /** Tool calls keep their original ids. */
  ids: boolean;
}

export const allFeatures: RequestFeatures = { thoughts: true, level: true, ids: true };

/** Refused signatures: the prompt or the provider's keys have changed since. */
const thoughtsRefused =
  /invalid `?(signature|data`? in `?redacted)|blocks?.*cannot be modified|different conversation|expected `?thinking|invalid_encrypted_content|encrypted content .*could not|of type 'reasoning'|required 'reasoning' item|not persisted when|messages\W+\d+\W.*reasoning|property '?reasoning/i;

const levelRefused =
  /encrypted content is not supported|(does not|doesn't) support (thinking|reasoning)|thinking\.(type\.)?\w+\W* is not supported|to turn thinking off|(unsupported|unknown|unrecognized|extra inputs?)[^.]*(reasoning|thinking|effort|verbosity)|(reasoning|thinking|effort|verbosity)[^.]*(not supported|unsupported|not permitted)/i;
/** Mistral accepts only ids of nine letters and digits. */
const idsRefused = /tool.?call.?id.*(must be|length of|invalid)/i;
/** Names of the level parameters, for errors that name only `param`. */
const levelNames = /^(reasoning|thinking|output_config|verbosity|text\.verbosity)|effort/;

/** The features for a retry after this error; undefined when no fallback applies. */
export function fallbackAfter(error: unknown, features: RequestFeatures): RequestFeatures | undefined {
  const refusal = readRefusal(error);
  if (!refusal) return undefined;
  const { words, param } = refusal;
  if (features.level && (levelRefused.test(words) || levelNames.test(param))) return { ...features, thoughts: false, level: false };
  if (features.ids && idsRefused.test(words)) return { ...features, ids: false };
  if (features.thoughts && thoughtsRefused.test(words)) return { ...features, thoughts: false };
  return undefined;
}
