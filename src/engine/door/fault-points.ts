/** Places where a kill hurts most; the crash suite kills the daemon at each of them. */
export const faultPoints = [
  'commit.inside',
  'commit.done',
  'message.begun',
  'message.ending',
  'checkpoint.saved',
  'tool.started',
  'tool.ending',
] as const;
export type FaultPoint = (typeof faultPoints)[number];
