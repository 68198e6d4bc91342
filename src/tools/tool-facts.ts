import type { ToolFacts } from './port.js';

/** Metadata of each built-in tool that needs no import of its module. Descriptions are part of every model request. */
export const toolFacts = {
  read: {
    name: 'read',
    description: 'Reads a text file (each line as number, tab, text) or an image. Long files come in parts: use offset.',
    readOnly: true,
    resumable: true,
  },
  write: {
    name: 'write',
    description: 'Creates a file or replaces all of it, with the directories it needs. Read a file before replacing it.',
    readOnly: false,
    resumable: false,
  },
  edit: {
    name: 'edit',
    description: 'Replaces exact pieces of a text file, each of which is there once. Several edits of one file go in one call.',
    readOnly: false,
    resumable: false,
  },
  bash: {
    name: 'bash',
    description: 'Runs a shell command in the working directory. With background, poll or kill it later by its id.',
    readOnly: false,
    resumable: false,
  },
  grep: {
    name: 'grep',
    description: 'Searches the text of files for a regular expression. Leaves out what .gitignore names, and binary files.',
    readOnly: true,
    resumable: true,
  },
  glob: {
    name: 'glob',
    description: 'Finds files by a pattern of their paths, newest first. Leaves out what .gitignore names.',
    readOnly: true,
    resumable: true,
  },
  ls: {
    name: 'ls',
    description: 'Lists a directory, hidden entries too: name/ is a directory, name@ -> target a link; files have sizes.',
    readOnly: true,
    resumable: true,
  },
  todo: {
    name: 'todo',
    description: 'Keeps a list of what is to be done in this session. Give the whole list to change it, nothing to read it.',
    readOnly: false,
    resumable: true,
    touchesNothing: true,
  },
  ask_user: {
    name: 'ask_user',
    description: 'Asks the person to select, confirm, or type a line (input) or a longer text (editor).',
    readOnly: false,
    resumable: true,
    touchesNothing: true,
  },
  tool_output: {
    name: 'tool_output',
    description: 'Reads or searches the whole of an earlier output that was too long, by its artifact id.',
    readOnly: true,
    resumable: true,
    touchesNothing: true,
  },
} as const satisfies Record<string, ToolFacts>;
