import type { Result } from './figures.js';
import { scoreOf } from './figures.js';

function show(value: number): string {
  if (Math.abs(value) >= 10_000) return Math.round(value).toLocaleString('en-US');
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function verdictOf(result: Result): string {
  if (!result.ok) return 'MISSED';
  if (result.must === null) return 'told';
  return scoreOf(result) <= result.should ? 'good' : 'ok';
}

function toCells(result: Result): string[] {
  const { name, unit, value, floor, ratio, must, should } = result;
  return [
    name,
    `${show(value)} ${unit}`,
    floor === null ? '' : `${show(floor)} ${unit}`,
    ratio === null ? '' : ratio.toFixed(2),
    must === null ? '' : `≤ ${must}`,
    must === null ? '' : `≤ ${should}`,
    verdictOf(result),
  ];
}

/** Results as a table for people. */
export function toTable(results: readonly Result[]): string {
  const rows = [['what', 'value', 'floor', 'ratio', 'must', 'should', 'verdict'], ...results.map(toCells)];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}
