/** A command that leaves processes behind if anybody can. `N` stands for a number of seconds that nobody else sleeps. */
export interface Tree {
  name: string;
  command: string;
  /** Why it is not promised to be found without a namespace. */
  notBare?: string;
  /** Its first process ends at once. */
  leaves?: boolean;
}

const python = (code: string): string => `/usr/bin/python3 -c '${code}'`;
const daemonise = `
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
`;
const closeAll = `
for fd in (0, 1, 2): os.close(fd)
`;

/** The last word of each is `ready`, when all that it starts is on its way; then it waits for N seconds. */
export const trees: Tree[] = [
  { name: 'a foreground sleep', command: 'echo ready; sleep N' },
  { name: 'a background child', command: 'sleep N & echo ready; wait' },
  { name: 'a hundred background children', command: 'for i in {1..100}; do sleep N & done; echo ready; wait' },
  { name: 'nohup', command: 'nohup sleep N & echo ready; wait' },
  { name: 'disown', command: 'sleep N & disown; echo ready; sleep N' },
  { name: 'nohup and disown', command: 'nohup sleep N >/dev/null 2>&1 & disown -a; echo ready; sleep N' },
  { name: 'setsid', command: 'setsid sleep N & echo ready; wait' },
  { name: 'setsid that forks', command: 'setsid -f sleep N; echo ready; sleep N' },
  { name: 'exec setsid', command: 'echo ready; exec setsid sleep N', leaves: true },
  { name: 'exec setsid with a wait', command: 'echo ready; exec setsid -w sleep N' },
  { name: 'setsid within setsid', command: 'setsid -f setsid -f setsid -f sleep N; echo ready; sleep N' },
  { name: 'setsid without output', command: 'setsid -f sleep N >/dev/null 2>&1 </dev/null; echo ready; sleep N' },
  { name: 'setsid with closed descriptors', command: 'setsid -f sleep N >&- 2>&- <&-; echo ready; sleep N' },
  { name: 'an empty environment', command: 'env -i sleep N & echo ready; wait' },
  { name: 'an empty environment in another session', command: 'env -i setsid -f sleep N; echo ready; sleep N' },
  {
    name: 'an empty environment in another session, silent',
    command: 'env -i setsid -f sleep N >/dev/null 2>&1 </dev/null; echo ready; sleep N',
  },
  { name: 'a subshell in a subshell', command: '( ( sleep N & ) & ) ; echo ready; sleep N' },
  { name: 'a double fork in bash', command: '( setsid bash -c "sleep N & exit" & ); echo ready; sleep N' },
  { name: 'a double fork in python', command: `${python(`${daemonise}time.sleep(N)`)}; echo ready; sleep N` },
  { name: 'a double fork in python with nothing open', command: `${python(`${daemonise}${closeAll}time.sleep(N)`)}; echo ready; sleep N` },
  {
    name: 'a double fork in python with nothing open and no environment',
    command: `env -i ${python(`${daemonise}${closeAll}time.sleep(N)`)}; echo ready; sleep N`,
  },
  {
    name: 'a double fork in perl',
    command: `perl -MPOSIX -e 'exit if fork; POSIX::setsid(); exit if fork; exec "sleep", "N"'; echo ready; sleep N`,
  },
  {
    name: 'a program with another name',
    command: `perl -e 'open F, ">", "hold-N"; $0 = "innocent"; fork; sleep N' & until [ -e hold-N ]; do :; done; echo ready; wait`,
  },
  { name: 'exec -a', command: '(exec -a "[kworker/0:1]" sleep N) & echo ready; wait' },
  { name: 'a child that ignores TERM', command: `bash -c 'trap "" TERM; sleep N' & echo ready; trap '' TERM; wait; sleep N` },
  { name: 'all signals ignored', command: `trap '' TERM HUP INT QUIT USR1 USR2 PIPE ALRM; sleep N & echo ready; wait; sleep N` },
  {
    name: 'python that ignores TERM in another session',
    command: `setsid ${python('import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint("ready", flush=True)\ntime.sleep(N)')} & wait`,
  },
  { name: 'a TERM handler that starts another', command: `trap 'setsid -f sleep N' TERM; echo ready; sleep N & while :; do wait; done` },
  {
    name: 'an EXIT handler that starts another',
    command: `trap 'setsid -f sleep N >/dev/null 2>&1' EXIT TERM; echo ready; sleep N & wait`,
  },
  { name: 'a stopped child', command: 'sleep N & kill -STOP $!; echo ready; wait' },
  { name: 'a stopped child in another session', command: 'setsid sleep N & kill -STOP $!; echo ready; wait' },
  { name: 'it stops itself', command: 'sleep N & echo ready; kill -STOP $BASHPID; sleep N' },
  { name: 'a loop that starts it again', command: '( while :; do sleep N; done ) & echo ready; wait' },
  {
    name: 'two that start each other again',
    command: `f() { setsid bash -c 'trap "" TERM; while :; do sleep N; done' & }; f; f; echo ready; wait`,
  },
  {
    name: 'a loop that forks all the time',
    command: `( trap '' TERM; while :; do setsid -f sleep N; sleep 0.05; done ) & echo ready; wait`,
  },
  {
    name: 'forks without end, for a while',
    command: `( for i in {1..300}; do ( setsid -f sleep N >/dev/null 2>&1 & ) ; done ) & echo ready; wait; sleep N`,
  },
  { name: 'a coprocess', command: 'coproc sleep N; echo ready; wait' },
  { name: 'a coprocess that talks', command: 'coproc { while read x; do echo $x; done; sleep N; }; echo ready; sleep N' },
  { name: 'process substitution', command: 'cat <(sleep N) > >(sleep N) & echo ready; wait' },
  { name: 'a pipeline', command: 'sleep N | cat | tail & echo ready; wait' },
  { name: 'a pipeline in another session', command: 'setsid bash -c "sleep N | cat" & echo ready; wait' },
  { name: 'a child that holds the output', command: 'sleep N & disown; echo ready; exec sleep N' },
  { name: 'a child with the output closed', command: 'sleep N >&- 2>&- & echo ready; wait' },
  { name: 'a child that holds the output elsewhere', command: 'setsid -f sleep N 9>&1 >/dev/null 2>&1; echo ready; sleep N' },
  { name: 'a zombie maker', command: `perl -e 'for (1..20) { exit 0 unless fork } $| = 1; print "ready\\n"; sleep N'` },
  {
    name: 'a zombie maker in another session',
    command: `setsid perl -e 'for (1..20) { exit 0 unless fork } $| = 1; print "ready\\n"; sleep N' & wait`,
  },
  { name: 'its own group', command: `set -m; sleep N & sleep N | cat & set +m; echo ready; wait` },
  { name: 'job control and a stopped job', command: `set -m; sleep N & kill -STOP %1; setsid -f sleep N; echo ready; sleep N` },
  { name: 'timeout and nice around it', command: 'timeout N nice -n 3 sleep N & echo ready; wait' },
  { name: 'timeout in the foreground', command: 'timeout --foreground N sleep N & echo ready; wait' },
  { name: 'xargs with many', command: 'yes N | head -20 | xargs -P 20 -n 1 sleep & echo ready; wait' },
  { name: 'find -exec', command: 'find . -maxdepth 0 -exec sleep N \\; & echo ready; wait' },
  { name: 'a here document', command: 'bash <<< "sleep N & setsid -f sleep N" ; echo ready; sleep N' },
  {
    name: 'a shell in another session that leaves',
    command: 'setsid bash -c "nohup sleep N >/dev/null 2>&1 & disown; exit" ; echo ready; sleep N',
  },
  {
    name: 'threads',
    command: python(
      'import threading, time, os\n[threading.Thread(target=time.sleep, args=(N,)).start() for _ in range(20)]\nprint("ready", flush=True)',
    ),
  },
  {
    name: 'children of threads',
    command: python(
      'import threading, subprocess\n[threading.Thread(target=subprocess.call, args=(["setsid", "sleep", "N"],)).start() for _ in range(5)]\nprint("ready", flush=True)',
    ),
  },
  {
    name: 'a daemon that made itself deaf, mute, nameless and stopped',
    command: `env -i ${python(`import signal\n${daemonise}f = open("hold-N", "w")\n[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 3, 15)]${closeAll}os.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(N)`)}; echo ready; sleep N`,
  },
  {
    name: 'limits set back, no environment, no output, another session',
    command: `ulimit -S -q $(ulimit -H -q); ulimit -S -i $(ulimit -H -i); env -i setsid -f sleep N >/dev/null 2>&1 </dev/null; echo ready; sleep N`,
    notBare: 'it took off everything that it could be known by, and its parent has ended',
  },
];

export function withSeconds(command: string, seconds: number): string {
  return command.replaceAll(/\bN\b/g, String(seconds));
}
