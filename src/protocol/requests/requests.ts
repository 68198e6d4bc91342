import * as z from 'zod';
import { approvalChoices, denyReasonKey } from './approval-answers.js';
import { lazy } from '../lazy.js';
import { rule } from '../permissions.js';

/** The fallback presentation of a request, for clients that do not know its kind. `hello` lists those that a client supports. */
export const uiMethod = z.enum(['select', 'confirm', 'input', 'editor']);
export type UiMethod = z.infer<typeof uiMethod>;

/*
 * What a person is asked, as `params` of a request: a union on `kind`, and of questions on `method`. Texts that the daemon makes for people
 * have no hidden or control characters left; questions of a model, `args`, rules, `workspace`, `anchor` and `asked_by` are passed on as they
 * are. Schemas are built when first looked at: a daemon at rest, or a client that checks nothing, has built none.
 */

const heading = {
  title: z.string().describe('One line.'),
};

const subjectCommand = lazy(() => z.object({ kind: z.literal('command'), command: z.string() }));
const subjectPaths = lazy(() =>
  z.object({ kind: z.literal('paths'), paths: z.array(z.object({ access: z.enum(['read', 'write']), path: z.string() })) }),
);
const subjectToolCall = lazy(() => z.object({ kind: z.literal('tool_call') }));
const approvalSubject = lazy(() =>
  z
    .discriminatedUnion('kind', [subjectCommand(), subjectPaths(), subjectToolCall()])
    .describe(
      'What the call is about: a command, the real paths of files, or nothing that the daemon knows beyond `tool_name` and `args`.',
    ),
);

const approvalOption = lazy(() =>
  z.object({
    value: z.enum(approvalChoices),
    label: z.string(),
    key: z.string().describe('Means the same in every approval.'),
  }),
);

const approvalParams = lazy(() =>
  z.object({
    kind: z.literal('approval'),
    ...heading,
    tool_name: z.string(),
    args: z.record(z.string(), z.unknown()).describe('Whole, as the model wrote them: escape them before showing them.'),
    subject: approvalSubject(),
    diff: z.string().optional().describe('What would become of a file, as a unified diff.'),
    diff_is_cut: z.literal(true).optional().describe('The diff leaves something out; `args` has it.'),
    sandbox: z
      .object({
        kind: z
          .enum(['sandbox', 'namespace', 'bare'])
          .describe('`namespace`: the whole machine, processes of its own. `bare`: there is no bubblewrap here.'),
        network: z.boolean(),
        writable: z.array(z.string()).describe('Directories that can be written; empty outside of a sandbox.'),
      })
      .nullable()
      .describe('How the command would run; null when the call runs none.'),
    workspace: z.string().describe('The real path of the session’s directory: where `allow_always` holds.'),
    asked_by: z.object({ session_id: z.string(), title: z.string(), model: z.string() }),
    why: z.string().describe('Why a person is asked.'),
    notes: z.array(z.string()).describe('What else is to be known, such as that there is no sandbox.'),
    digest: z.string().describe('Of all that the answer holds for. Anything else is another request.'),
    remember: z.array(rule).describe('The rules that `allow_session` and `allow_always` would add; empty when neither is offered.'),
    options: z.array(approvalOption()).describe('What is offered this time.'),
    deny_with_reason: z
      .object({ key: z.literal(denyReasonKey), label: z.string() })
      .describe('Always possible: `{"value":"deny","reason":"…"}`.'),
    message: z.string().describe('Command, `why` and `notes` in one text.'),
    command: z.string().optional().describe('That of `subject`.'),
    network: z.boolean().optional().describe('That of `sandbox`.'),
    sandboxed: z.boolean().describe('Whether `sandbox.kind` is `sandbox`.'),
    rule: z.string().optional().describe('`remember` in words.'),
    rules: z.array(rule).optional().describe('The same as `remember`.'),
  }),
);

const trustParams = lazy(() =>
  z.object({
    kind: z.literal('trust'),
    ...heading,
    what: z.literal('workspace_config').describe('More may be added.'),
    path: z.string().describe('The file that is trusted or not.'),
    digest: z.string().describe('Of the content that the answer holds for.'),
    content: z.string().describe('What would count: its rules in words, one on a line.'),
    warnings: z.array(z.string()).describe('What is wrong with it, such as a rule that never matches.'),
    workspace: z.string(),
    message: z.string().describe('Path, content and warnings in one text.'),
  }),
);

const directoryParams = lazy(() =>
  z.object({
    kind: z.literal('directory'),
    ...heading,
    message: z.string(),
    anchor: z.object({ realPath: z.string(), device: z.string(), inode: z.string() }).describe('The directory that a yes holds for.'),
  }),
);

const questionHead = {
  kind: z.literal('question'),
  ...heading,
  message: z.string().optional(),
};

const selectQuestion = lazy(() =>
  z.object({
    ...questionHead,
    method: z.literal('select'),
    options: z.array(z.object({ value: z.string(), label: z.string() })),
    multi: z.literal(true).optional().describe('Any number of the options may be chosen: the answer is a list.'),
  }),
);
const confirmQuestion = lazy(() =>
  z.object({
    ...questionHead,
    method: z.literal('confirm'),
    danger: z.literal(true).optional().describe('A yes destroys something, or cannot be undone: show it as such.'),
  }),
);
const textQuestion = lazy(() =>
  z.object({
    ...questionHead,
    method: z.enum(['input', 'editor']).describe('`input`: one line. `editor`: several.'),
    placeholder: z.string().optional().describe('What to type, shown while nothing is.'),
    default: z.string().optional().describe('The text to begin with.'),
    secret: z.literal(true).optional().describe('What is typed is not shown, and `ui_resolved` does not tell the answer.'),
  }),
);
const questionParams = lazy(() => z.discriminatedUnion('method', [selectQuestion(), confirmQuestion(), textQuestion()]));

const requestParams = lazy(() => z.discriminatedUnion('kind', [approvalParams(), trustParams(), directoryParams(), questionParams()]));

export type ApprovalSubject = z.infer<ReturnType<typeof approvalSubject>>;
export type ApprovalOption = z.infer<ReturnType<typeof approvalOption>>;
export type ApprovalParams = z.infer<ReturnType<typeof approvalParams>>;
export type TrustParams = z.infer<ReturnType<typeof trustParams>>;
export type DirectoryParams = z.infer<ReturnType<typeof directoryParams>>;
export type QuestionParams = z.infer<ReturnType<typeof questionParams>>;
export type RequestParams = z.infer<ReturnType<typeof requestParams>>;

/** A request to a person, with the session, run and call that it belongs to. */
export const uiRequest = lazy(() =>
  z.object({
    session_id: z.string(),
    run_id: z.string(),
    turn_id: z.string(),
    request_id: z.string(),
    tool_call_id: z.string(),
    ask_key: z.string().describe('Tells the requests of one call apart, so that a call that runs again finds its answers.'),
    method: uiMethod,
    params: requestParams(),
    expires_at: z.string().nullable(),
  }),
);
export type UiRequest = z.infer<ReturnType<typeof uiRequest>>;

/** The fallback method of a request, for clients that know only methods. */
export function methodOf(params: RequestParams): UiMethod {
  switch (params.kind) {
    case 'approval':
      return 'select';
    case 'trust':
    case 'directory':
      return 'confirm';
    case 'question':
      return params.method;
  }
}

/** The shapes by the names that the docs have for them. */
export const requestShapes = {
  ui_request: uiRequest,
  request_params: requestParams,
  approval_params: approvalParams,
  approval_subject: approvalSubject,
  subject_command: subjectCommand,
  subject_paths: subjectPaths,
  subject_tool_call: subjectToolCall,
  approval_option: approvalOption,
  trust_params: trustParams,
  directory_params: directoryParams,
  question_params: questionParams,
  select_question: selectQuestion,
  confirm_question: confirmQuestion,
  text_question: textQuestion,
};
