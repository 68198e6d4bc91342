/** All of standard input as text. */
export async function readStdin(): Promise<string> {
  const pieces: string[] = [];
  process.stdin.setEncoding('utf8');
  for await (const piece of process.stdin) pieces.push(String(piece));
  return pieces.join('');
}
