/** A question that wants a text, or the reason that a denial has. */
export type AnswerPlace = 'text' | 'reason';

const places: readonly AnswerPlace[] = ['text', 'reason'];
const tuning = { textsMax: 100 } as const;

/** What a person had written when an answer was closed without being given. */
export interface BegunAnswers {
  textOf(requestId: string, place: AnswerPlace): string | undefined;
  /** An empty text is forgotten. */
  keep(requestId: string, place: AnswerPlace, text: string): void;
  /** Forgets and returns what was begun for a question. */
  take(requestId: string): string[];
}

export function createBegunAnswers(): BegunAnswers {
  const texts = new Map<string, string>();
  const keyOf = (requestId: string, place: AnswerPlace): string => `${place} ${requestId}`;
  return {
    textOf: (requestId, place) => texts.get(keyOf(requestId, place)),
    keep(requestId, place, text) {
      const key = keyOf(requestId, place);
      texts.delete(key);
      if (text.trim() === '') return;
      texts.set(key, text);
      const [oldest] = texts.keys();
      if (texts.size > tuning.textsMax && oldest !== undefined) texts.delete(oldest);
    },
    take: (requestId) =>
      places.flatMap((place) => {
        const key = keyOf(requestId, place);
        const text = texts.get(key);
        texts.delete(key);
        return text === undefined ? [] : [text];
      }),
  };
}
