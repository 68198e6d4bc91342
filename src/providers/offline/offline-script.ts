import { textOf, toolCallsOf, wholeUnits } from '../../protocol/content.js';
import { limits } from '../../protocol/limits.js';
import type { ContentBlock } from '../../protocol/messages.js';
import { toolCallHelp, editHint, wantedToolCalls, type WantedCall } from './offline-tool-calls.js';
import { continuePrompt, type ModelDelta, type ModelMessage, type ModelRequest } from '../port.js';

const tuning = {
  /** Longer words and gaps come in several deltas. */
  deltaCharsMax: 4_096,
  /** Of the end of a text, where `with approval` and `for 3 seconds` are looked for. */
  suffixChars: 40,
} as const;

const introduction = `Hello. I am the offline guide: a small program inside berth, not a model. I know a few phrases and nothing else, so that you can see everything work with no key and no network. Try one of them:

    say ahoy                   I answer exactly that
    stream 500 words           a long answer, to steer, abort, or leave and come back to
    think about boats          thinking first, then text
    what time is it            one tool call
    echo ahoy for 5 seconds    a tool that takes its time
    echo ahoy with approval    a tool that asks you first
${toolCallHelp}
    call 3 tools               several calls at once
    ask me                     four questions, one of each kind
    fail                       what a failing provider looks like; also: fail early, fail late

For a real model, leave me and type berth auth set anthropic (or openai), then berth models. Local servers work, too: see the README.`;
const hint = 'I am the offline guide, not a model, and did not understand it. Say "help" for what I know.';

type Phrase =
  | { type: 'say'; text: string }
  | { type: 'stream'; count: number }
  | { type: 'think'; about: string | undefined }
  | { type: 'call'; calls: WantedCall[] }
  | { type: 'nonsense' }
  | { type: 'fail'; when: 'early' | 'begun' | 'late' }
  | { type: 'chat'; text: string };

const questions: WantedCall[] = [
  { method: 'select', title: 'Which way shall we sail?', options: ['north', 'south', 'stay in port'] },
  { method: 'confirm', title: 'Cast off now?', message: 'The tide is right.' },
  { method: 'input', title: 'What is the ship called?', placeholder: 'a name' },
  { method: 'editor', title: 'Write the first line of the log.', default: 'Day 1: ' },
].map((args) => ({ name: 'ask_user', args }));

/** Phrases, matched as a whole, case-insensitively and without trailing punctuation. */
const phrases: [RegExp, (match: RegExpExecArray) => Phrase][] = [
  [/^help$/i, () => ({ type: 'say', text: introduction })],
  [/^stream ([\d,]+) words?$/i, (match) => wantWords(readCount(match[1]))],
  [/^think$/i, () => ({ type: 'think', about: undefined })],
  [/^(?:clock|what time is it)$/i, () => wantCalls({ name: 'clock', args: {} })],
  [/^what time is it in (\S+)$/i, (match) => wantCalls({ name: 'clock', args: { time_zone: match[1] } })],
  [/^call ([\d,]+) tools?$/i, (match) => wantTools(readCount(match[1]))],
  [/^call nonsense$/i, () => ({ type: 'nonsense' })],
  [/^ask me$/i, () => wantCalls(...questions)],
  [/^edit\b[^]*$/i, () => ({ type: 'say', text: editHint })],
  [/^fail$/i, () => ({ type: 'fail', when: 'begun' })],
  [/^fail early$/i, () => ({ type: 'fail', when: 'early' })],
  [/^fail late$/i, () => ({ type: 'fail', when: 'late' })],
];

/** The answer of the offline guide: deterministic for the same history and tools, one delta per word, generated lazily. */
export function* scriptReply({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): Generator<ModelDelta, void> {
  const { said, asked } = splitCutAnswer(messages);
  let left = said.length;
  for (const delta of reply({ messages: asked, tools })) {
    if (delta.type !== 'text' || left === 0) {
      yield delta;
      continue;
    }
    if (delta.text.length > left) yield { ...delta, text: delta.text.slice(left) };
    left = Math.max(0, left - delta.text.length);
  }
}

/**
 * Splits off an answer that was truncated, perhaps several times, and is to be continued: its text so far, and the messages before it. The
 * guide generates the same answer again and skips that text.
 */
function splitCutAnswer(messages: ModelMessage[]): { said: string; asked: ModelMessage[] } {
  let said = '';
  let end = messages.length;
  for (; end >= 2; end -= 2) {
    const [cut, asked] = messages.slice(end - 2, end);
    if (cut?.role !== 'assistant' || asked?.role !== 'user' || textOf(asked.content) !== continuePrompt) break;
    said = textOf(cut.content) + said;
  }
  return { said, asked: messages.slice(0, end) };
}

function* reply({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): Generator<ModelDelta, void> {
  const phrase = choosePhrase(messages);
  if (phrase.type !== 'fail' || phrase.when !== 'early') yield { type: 'begin' };
  if (phrase.type === 'fail') {
    if (phrase.when === 'late') yield* sayText(0, 'These are ten words, and then the offline guide fails.');
    yield {
      type: 'failure',
      message: 'the offline guide was asked to fail',
      cause: 'overloaded (simulated)',
    };
    return;
  }
  let output = 0;
  let calls = 0;
  for (const delta of speak(phrase, messages, new Set(tools.map((tool) => tool.name)))) {
    if (delta.type === 'tool_call') calls += 1;
    else output += 1;
    yield delta;
  }
  const input = messages.reduce((sum, message) => sum + countWords(message.content), 0);
  yield {
    type: 'end',
    stopReason: calls > 0 ? 'tool_use' : 'stop',
    usage: { input, output, cache_read: 0, cache_write: 0, cost_usd: 0 },
  };
}

function choosePhrase(messages: ModelMessage[]): Phrase {
  const answered = messages.findLastIndex((message) => message.role === 'assistant');
  const news = messages.slice(answered + 1);
  const newest = news.at(-1);
  if (newest === undefined) return { type: 'say', text: answered < 0 ? introduction : 'Nothing was asked since my last answer.' };
  if (newest.role === 'tool_result') return { type: 'say', text: sumUp(news.filter((message) => message.role === 'tool_result')) };
  const asked = news.filter((message) => message.role === 'user').map((message) => readPhrase(textOf(message.content)));
  const last = asked.at(-1);
  // Several plain messages are answered together. Tool calls are not: an unanswered one failed or was aborted, and is not repeated.
  return last === undefined || last.type === 'say' || last.type === 'chat' ? answerWords(asked, answered < 0) : last;
}

function answerWords(asked: Phrase[], firstContact: boolean): Phrase {
  const lines: string[] = [];
  let understood = true;
  for (const phrase of asked) {
    if (phrase.type === 'say') lines.push(phrase.text);
    if (phrase.type !== 'chat') continue;
    understood = false;
    if (!firstContact)
      lines.push(
        phrase.text === '' ? 'You sent nothing that I can read.' : `You said: ${truncate(phrase.text, limits.offlineEchoedCharsMax)}`,
      );
  }
  if (!understood) lines.push(firstContact ? introduction : hint);
  return { type: 'say', text: lines.join('\n') };
}

function readPhrase(message: string): Phrase {
  const text = message.trimStart();
  const record = recordPattern.exec(text)?.[1];
  if (record !== undefined) return { type: 'say', text: summarizePrompts(record) };
  const said = /^say\s([\s\S]*)$/i.exec(text)?.[1];
  if (said !== undefined && said.trim() !== '') return { type: 'say', text: said };
  const trimmed = text.trimEnd();
  const echoed = /^echo\s+(\S[\s\S]*)$/i.exec(trimmed)?.[1];
  if (echoed !== undefined) return wantCalls({ name: 'echo', args: readEcho(echoed) });
  const toolCalls = wantedToolCalls(trimmed);
  if (toolCalls) return wantCalls(...toolCalls);
  const about = /^think about\s+(\S[\s\S]*)$/i.exec(trimmed)?.[1];
  if (about !== undefined) return { type: 'think', about: truncate(about, limits.offlineEchoedCharsMax) };
  if (trimmed.length <= limits.offlinePhraseCharsMax) {
    const plain = trimmed.replace(/[.!?]+$/, '');
    for (const [pattern, toPhrase] of phrases) {
      const match = pattern.exec(plain);
      if (match) return toPhrase(match);
    }
  }
  return { type: 'chat', text: trimmed };
}

/** The prompt for a compaction summary. */
const recordPattern = /^(?:<earlier_summary>[\s\S]*)?<record>([\s\S]*)<\/record>/;

/** The guide's compaction summary: the beginnings of all user messages, shorter than the record itself. */
function summarizePrompts(record: string): string {
  const asked = [...record.matchAll(/^\[person\]\n(.*)$/gm)].map(([, line = '']) => `- ${truncate(line, limits.offlinePhraseCharsMax)}`);
  const list = asked.slice(-limits.offlineResultsNamedMax).join('\n');
  const summary = `The offline guide cannot summarise. This is what it was asked:\n${list}`;
  return summary.length <= record.length / 2
    ? summary
    : truncate(`Asked:\n${list}`, Math.max(limits.offlinePhraseCharsMax, record.length / 2));
}

function readEcho(text: string): Record<string, unknown> {
  const approval = /\swith approval$/i.exec(text.slice(-tuning.suffixChars));
  const unapproved = approval ? text.slice(0, -approval[0].length).trimEnd() : text;
  const spread = /\sfor (\d{1,6}(?:\.\d{1,3})?) seconds?$/i.exec(unapproved.slice(-tuning.suffixChars));
  return {
    text: spread ? unapproved.slice(0, -spread[0].length).trimEnd() : unapproved,
    ...(spread && { seconds: Number(spread[1]) }),
    ...(approval && { confirm: true }),
  };
}

function readCount(digits: string | undefined): number {
  return Number(digits?.replaceAll(',', ''));
}

function wantWords(count: number): Phrase {
  if (count >= 1 && count <= limits.offlineWordsMax) return { type: 'stream', count };
  return { type: 'say', text: 'I stream from 1 to 1,000,000 words.' };
}

function wantTools(count: number): Phrase {
  if (!(count >= 1 && count <= limits.offlineToolCallsMax))
    return { type: 'say', text: `I make from 1 to ${limits.offlineToolCallsMax} tool calls at once.` };
  const calls = Array.from({ length: count }, (_, index): WantedCall =>
    index % 2 === 0 ? { name: 'clock', args: {} } : { name: 'echo', args: { text: `call ${index + 1} of ${count}` } },
  );
  return wantCalls(...calls);
}

function wantCalls(...calls: WantedCall[]): Phrase {
  return { type: 'call', calls };
}

function* speak(phrase: Exclude<Phrase, { type: 'fail' }>, messages: ModelMessage[], active: Set<string>): Generator<ModelDelta, void> {
  switch (phrase.type) {
    case 'say':
    case 'chat':
      return yield* sayText(0, phrase.text);
    case 'stream':
      for (let n = 1; n <= phrase.count; n += 1) yield { type: 'text', block: 0, text: n === 1 ? 'word1' : ` word${n}` };
      return;
    case 'think': {
      const about = phrase.about === undefined ? '' : ` about ${phrase.about}`;
      const thinking = `I was asked to think${about}. I am a small program, so this only shows what thinking looks like.`;
      for (const text of splitWords(thinking)) yield { type: 'thinking', block: 0, text };
      return yield* sayText(1, `I have thought${about}, as far as a program without a model can.`);
    }
    case 'call': {
      const missing = [...new Set(phrase.calls.map((call) => call.name))].filter((name) => !active.has(name));
      if (missing.length > 0) return yield* sayText(0, `I called nothing: not active in this session: ${missing.join(', ')}.`);
      const nextId = createCallIds(messages);
      let block = 0;
      for (const { name, args } of phrase.calls) yield* callTool(block++, nextId(), name, JSON.stringify(args));
      return;
    }
    case 'nonsense':
      return yield* callNonsense(createCallIds(messages));
  }
}

function* sayText(block: number, text: string): Generator<ModelDelta, void> {
  for (const word of splitWords(text)) yield { type: 'text', block, text: word };
}

function* callTool(block: number, id: string, name: string, json: string): Generator<ModelDelta, void> {
  yield { type: 'tool_call', block, id, name };
  const pieces = Math.min(3, json.length);
  let from = 0;
  for (let piece = 1; piece <= pieces; piece += 1) {
    const to = wholeUnits(json, Math.ceil((json.length * piece) / pieces));
    if (to > from) yield { type: 'tool_arguments', block, json: json.slice(from, to) };
    from = to;
  }
}

/** Malformed tool calls, as only a bad model makes. */
function* callNonsense(nextId: () => string): Generator<ModelDelta, void> {
  yield* callTool(0, nextId(), 'no_such_tool', '{}');
  yield* callTool(1, nextId(), '__proto__', '{"__proto__":{"polluted":true}}');
  yield* callTool(2, nextId(), 'echo', '{"text":"this JSON never en');
  yield* callTool(3, nextId(), 'echo', '["not","an","object"]');
  yield* callTool(4, nextId(), 'echo', '{"text":5,"seconds":"soon"}');
  const twice = nextId();
  yield* callTool(5, twice, 'clock', '{}');
  yield* callTool(6, twice, 'echo', '{"text":"the same id again"}');
  yield* callTool(7, `${nextId()} "quoted"\n`, 'clock', '{}');
}

function createCallIds(messages: ModelMessage[]): () => string {
  const taken = new Set<string>();
  let count = 0;
  for (const message of messages) {
    for (const call of toolCallsOf(message.content)) {
      taken.add(call.id);
      count += 1;
    }
  }
  return () => {
    do count += 1;
    while (taken.has(`call_${count}`));
    return `call_${count}`;
  };
}

function sumUp(results: ModelMessage[]): string {
  const said = results.slice(0, limits.offlineResultsNamedMax).map(({ toolName = 'the tool', isError, content }) => {
    const text = truncate(textOf(content).trim(), results.length === 1 ? limits.offlineLoneResultCharsMax : limits.offlineResultCharsMax);
    return `${toolName} ${isError ? 'failed' : 'said'}: ${text === '' ? '(nothing)' : text}`;
  });
  if (results.length > 1) said.unshift(`${results.length} calls are done.`);
  if (results.length > limits.offlineResultsNamedMax) said.push(`and ${results.length - limits.offlineResultsNamedMax} more`);
  return said.join('\n');
}

function* splitWords(text: string): Generator<string, void> {
  for (const [word] of text.matchAll(wordPattern)) yield word;
}

const wordPattern = new RegExp(`\\s{0,${tuning.deltaCharsMax}}\\S{1,${tuning.deltaCharsMax}}|\\s{1,${tuning.deltaCharsMax}}`, 'gu');

function countWords(content: ContentBlock[]): number {
  let count = 0;
  for (const block of content) {
    const text = readText(block);
    const pattern = /\S+/g;
    while (pattern.test(text)) count += 1;
  }
  return count;
}

function readText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'thinking':
      return block.thinking;
    case 'tool_call':
      return JSON.stringify(block.arguments);
    case 'image':
      return '';
  }
}

function truncate(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, wholeUnits(text, charsMax))}…`;
}
