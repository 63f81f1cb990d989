type ErrorCodeEntry = {
  readonly meaning: string;
  readonly action: string;
  readonly exitCode: number;
  readonly httpStatus: number;
  readonly retryable: boolean;
};

const entry = (
  exitCode: number,
  httpStatus: number,
  retryable: boolean,
  meaning: string,
  action: string,
): ErrorCodeEntry => ({ meaning, action, exitCode, httpStatus, retryable });

/**
 * Every code that leaves the program. docs/errors.md is this table for readers and a test compares
 * the two. Exit codes: 1 a bug, 2 wrong usage, 3 storage, 4 not allowed, 5 not found or conflict,
 * 6 the model provider.
 */
export const ERROR_CODES = {
  internal_error: entry(
    1,
    500,
    false,
    'Something happened that the code does not expect.',
    'Report it with the message and the output of `dialectic doctor`.',
  ),
  usage_invalid: entry(
    2,
    400,
    false,
    'A command, option or request field is missing or wrong.',
    'Correct what the message names; `--help` lists what is accepted.',
  ),
  data_directory_locked: entry(
    3,
    503,
    true,
    'Another living process holds the data directory.',
    'Use the running process, stop it (its pid is in the message), or name another --data.',
  ),
  data_directory_unusable: entry(
    3,
    503,
    false,
    'The data directory cannot be created, read or written.',
    'Give write access to it, or name another with --data or DIALECTIC_DATA.',
  ),
  data_directory_damaged: entry(
    3,
    503,
    false,
    'The database in the data directory does not open.',
    'Run `dialectic doctor`; `dialectic doctor --restore` puts the last backup back.',
  ),
  backup_missing: entry(
    3,
    404,
    false,
    'There is no whole backup to restore.',
    'Name another data directory, or start anew in an empty one.',
  ),
  storage_full: entry(
    3,
    507,
    true,
    'The disk has too little room left to go on safely.',
    'Free some space; work goes on by itself. What was saved is kept.',
  ),
  storage_closed: entry(
    3,
    503,
    true,
    'The database was closed, or its thread ended, while the work was under way.',
    'Start the command again; what was saved is kept.',
  ),
  database_unreachable: entry(
    3,
    503,
    true,
    'The PostgreSQL server of DATABASE_URL does not answer.',
    'Start the server or correct DATABASE_URL (host, port, network).',
  ),
  database_refused: entry(
    3,
    503,
    false,
    'The PostgreSQL server refused the connection (user, password, database or rights).',
    'Correct DATABASE_URL, or grant the rights that the message names.',
  ),
  database_unsupported: entry(
    3,
    503,
    false,
    'The PostgreSQL server is older than version 15.',
    'Use PostgreSQL 15 or newer, or the embedded database.',
  ),
  schema_newer: entry(
    3,
    503,
    false,
    'The database was written by a newer version of Dialectic.',
    'Update Dialectic, or name another data directory or database.',
  ),
  migration_changed: entry(
    3,
    503,
    false,
    'A migration that was applied differs from the one in this version.',
    'Use the version that created the database; report it if nobody edited migrations.',
  ),
  migration_failed: entry(
    3,
    503,
    false,
    'A schema migration did not apply; nothing of it was kept.',
    'Read the database message; the database is as it was before.',
  ),
  token_invalid: entry(
    4,
    401,
    false,
    'The API token is unknown or malformed.',
    'Use a valid token; an owner can issue a new one.',
  ),
  token_expired: entry(
    4,
    401,
    false,
    'The API token has expired or was revoked.',
    'Issue a new token.',
  ),
  access_denied: entry(
    4,
    403,
    false,
    'The database refused an operation that the current tenant may not do.',
    'Use the tenant that owns the data.',
  ),
  not_found: entry(
    5,
    404,
    false,
    'What was asked for does not exist, or belongs to someone else.',
    'Check the id; `dialectic list` shows what there is.',
  ),
  conflict: entry(
    5,
    409,
    false,
    'The change contradicts what is stored already.',
    'Read the current state and decide again.',
  ),
  cursor_invalid: entry(
    2,
    400,
    false,
    'An event cursor does not parse.',
    'Send the cursor exactly as it was received, or none to read from the start.',
  ),
  provider_not_configured: entry(
    2,
    400,
    false,
    'The model names a provider that has no key or address.',
    'Set the key or base URL that the message names, or choose another --model.',
  ),
  model_unknown: entry(
    2,
    404,
    false,
    'The model id is malformed, or its provider does not know the model.',
    'Use `provider/model`; `dialectic models` lists what can be reached.',
  ),
  provider_auth: entry(
    6,
    502,
    false,
    'The provider refused the key.',
    'Correct the key or the rights of its account; then resume.',
  ),
  provider_quota_exhausted: entry(
    6,
    502,
    false,
    "The provider account's credit or quota is used up.",
    'Add credit with the provider or choose another model; then resume.',
  ),
  provider_rate_limited: entry(
    6,
    503,
    true,
    'The provider asks for fewer requests.',
    'Nothing: the work waits as long as the provider asks for. Lower --concurrency if it recurs.',
  ),
  provider_request_refused: entry(
    6,
    502,
    false,
    'The provider refused the request as it stands.',
    'Read its message; `structuredOutputs: false` helps servers that know no JSON Schema.',
  ),
  provider_context_exceeded: entry(
    6,
    502,
    false,
    'The provider says that the prompt is longer than the window of the model.',
    "Set the model's real `windowTokens` in the configuration, or use a larger model.",
  ),
  provider_unavailable: entry(
    6,
    503,
    true,
    'The provider failed on its side or is overloaded.',
    'Nothing: the work is tried again. If it lasts, choose another model.',
  ),
  provider_unreachable: entry(
    6,
    503,
    true,
    'The connection to the provider could not be made or was lost.',
    'Check the network, the base URL and that a local server runs.',
  ),
  provider_timeout: entry(
    6,
    504,
    true,
    'The provider did not answer, or fell silent, for longer than allowed.',
    'Nothing: the work is tried again. Raise `timeouts` in the configuration for slow models.',
  ),
  provider_bad_response: entry(
    6,
    502,
    true,
    'What came back is not an answer in the format of the provider.',
    'Check the base URL; a proxy or login page may answer in place of the provider.',
  ),
  provider_circuit_open: entry(
    6,
    503,
    true,
    'The provider failed repeatedly, so no request is sent for a moment.',
    'Nothing: a trial request follows by itself.',
  ),
  provider_call_aborted: entry(
    6,
    499,
    true,
    'The call was stopped from this side before any text arrived.',
    'Resume the session.',
  ),
  template_invalid: entry(
    2,
    400,
    false,
    'A template of the recipe cannot be parsed, or names something that does not exist.',
    'Correct the template at the line that the message names.',
  ),
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;
