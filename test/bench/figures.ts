/** One row of the budgets. With a floor it is judged by its ratio to that, without one by its value. */
export interface Figure {
  name: string;
  unit: string;
  value: number;
  floor: number | null;
  /** Null for what is only told: it has no budget of its own. */
  must: number | null;
  should: number;
}

export interface BenchSetup {
  quick: boolean;
}

export interface Measurement {
  name: string;
  /** Empty when what it measures is not there to be measured. */
  measure(setup: BenchSetup): Promise<Figure[]>;
}

export interface Result extends Figure {
  ratio: number | null;
  ok: boolean;
}

/** What is held against the budget. */
export function scoreOf({ value, floor }: Figure): number {
  return floor === null ? value : value / floor;
}

export function judge(figure: Figure): Result {
  const score = scoreOf(figure);
  return { ...figure, ratio: figure.floor === null ? null : score, ok: figure.must === null || score <= figure.must };
}
