import { forEachChild, type SyntaxNode, type TestCommand, type TestExpression, type Word } from 'unbash';
import { readWord, type ShellWord } from './words.js';

/** Why the expansion of a word has side effects beyond variable values; nested commands are checked elsewhere. */
export function strangeExpansion(node: SyntaxNode): string | undefined {
  if (node.type === 'Script') return undefined;
  if (node.type === 'ArithmeticExpansion' && !/^\$\(\([\d\s+*/%()<>&|^~!?:-]*\)\)$/.test(node.text)) return 'it computes with variables';
  if (node.type === 'ParameterExpansion') {
    const { prefix, index, operation } = node;
    if (operation?.type === 'Default' && operation.operator.endsWith('=')) return 'it sets a variable';
    if (
      prefix === '!' ||
      index !== undefined ||
      operation?.type === 'Transform' ||
      operation?.type === 'Unknown' ||
      operation?.type === 'Slice'
    )
      return `${node.text} is not understood`;
  }
  let found: string | undefined;
  forEachChild(node, (child) => {
    found ??= strangeExpansion(child);
  });
  return found;
}

const arithmeticTests = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

function expressions(expression: TestExpression): { operator: string; words: Word[] }[] {
  switch (expression.type) {
    case 'TestUnary':
      return [{ operator: expression.operator, words: [expression.operand] }];
    case 'TestBinary':
      return [{ operator: expression.operator, words: [expression.left, expression.right] }];
    case 'TestLogical':
      return expression.operands.flatMap(expressions);
    case 'TestNot':
      return expressions(expression.operand);
    case 'TestGroup':
      return expressions(expression.expression);
  }
}

/** The words of `[[ … ]]` as those of `test`. A computed value cannot become an operator there. */
export function testWords({ expression }: TestCommand): ShellWord[] {
  return expressions(expression).flatMap(({ operator, words }) => [
    { value: operator, kind: 'plain', guess: operator },
    ...words
      .flatMap(readWord)
      .map((word): ShellWord => (word.kind === 'plain' ? word : { value: null, kind: 'number', guess: word.guess })),
  ]);
}

/** Doubts about tests that evaluate their operands: an array subscript may contain a command substitution. */
export function testDoubts({ expression }: TestCommand): string[] {
  return expressions(expression).flatMap(({ operator, words }) => {
    const strange = words.map(strangeExpansion).find((why) => why !== undefined);
    if (strange !== undefined) return [strange];
    if (operator === '-v' || operator === '-R') return [`${operator} evaluates a name`];
    return arithmeticTests.has(operator) && !words.every(({ value }) => /^-?\d+$/.test(value))
      ? [`${operator} evaluates what it compares`]
      : [];
  });
}
