/** The style of an exported page: follows the light or dark preference of the reader. */
export const exportStyle = `:root { --fg: #1d2127; --bg: #fff; --dim: #5c6670; --line: #d8dde3; --block: #f5f7f9; --you: #0b63b5; --add: #116329; --cut: #a40e26; }
@media (prefers-color-scheme: dark) {
  :root { --fg: #e3e7eb; --bg: #15181c; --dim: #98a2ad; --line: #343a42; --block: #1e2227; --you: #6cb6ff; --add: #57ab5a; --cut: #ff7b72; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 1.5rem 1rem 4rem; font: 16px/1.5 system-ui, sans-serif; color: var(--fg); background: var(--bg); }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 .4rem; }
time, .note, dl, summary span { color: var(--dim); font-size: .85rem; font-weight: normal; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0; }
dd { margin: 0; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); margin-top: 1.2rem; padding-top: 1rem; }
.user h2 { color: var(--you); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; margin: .4rem 0; }
pre { margin: .5rem 0 0; padding: .6rem .8rem; background: var(--block); overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
pre, code { font: .85rem/1.45 ui-monospace, monospace; }
details { margin: .5rem 0; border: 1px solid var(--line); border-radius: .3rem; padding: .35rem .7rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.thinking { color: var(--dim); }
.failed, del { color: var(--cut); }
ins { color: var(--add); }
ins, del { text-decoration: none; }
summary span.failed { color: var(--cut); }
img { display: block; max-width: 100%; margin: .5rem 0; border: 1px solid var(--line); }
`;
