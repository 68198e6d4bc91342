/** Numbers the content blocks of an answer from 0, in the order of their first delta, for any ids of the provider. */
export function createBlockNumbers(): (name: string | number) => number {
  const numbers = new Map<string | number, number>();
  return (name) => {
    let number = numbers.get(name);
    if (number === undefined) numbers.set(name, (number = numbers.size));
    return number;
  };
}
