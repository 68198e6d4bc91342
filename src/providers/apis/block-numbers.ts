/** Numbers the blocks of an answer from 0, in the order in which they begin, whatever their provider calls them. */
export function createBlockNumbers(): (name: string | number) => number {
  const places = new Map<string | number, number>();
  return (name) => {
    let place = places.get(name);
    if (place === undefined) places.set(name, (place = places.size));
    return place;
  };
}
