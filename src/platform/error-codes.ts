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
 * the two. Exit codes: 1 a bug, 2 wrong usage, 3 storage, 4 not allowed, 5 not found or conflict.
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
  lease_lost: entry(
    5,
    409,
    false,
    'Another worker took the job over; nothing of this attempt was kept.',
    'Nothing: the other worker goes on with the job.',
  ),
  job_type_unknown: entry(
    2,
    400,
    false,
    'There is no such job type, or no handler for it.',
    'Use PLAN, EXECUTE or RENDER, and a worker that handles it.',
  ),
  job_payload_invalid: entry(
    2,
    422,
    false,
    'The payload of a job does not have the shape that its handler expects.',
    'Correct the payload; the message names the field.',
  ),
  job_cycle: entry(
    2,
    422,
    false,
    'Jobs wait for each other in a circle.',
    'Remove one of the prerequisites that the details list.',
  ),
  parent_finished: entry(
    5,
    409,
    false,
    'A job that is over cannot get children.',
    'Retry the parent first, or start a new one.',
  ),
  job_transition_refused: entry(
    5,
    409,
    false,
    'A job cannot go from its status to the one asked for.',
    'Read the current status; only what is over can be retried, only what lives cancelled.',
  ),
  recipe_invalid: entry(
    2,
    422,
    false,
    'A recipe has defects; the details list each with file, line and field.',
    'Correct the places that are named; `dialectic recipe validate` checks them all.',
  ),
  recipe_conflict: entry(
    5,
    409,
    false,
    'A change to a recipe contradicts what it holds already, or names what it does not hold.',
    'Read the recipe with `dialectic recipe show` and name an existing, or a new, key.',
  ),
  plan_inputs_missing: entry(
    5,
    409,
    false,
    'A step cannot be planned: a required input is missing, or one job would get it twice.',
    'Read which input is named; finish or retry what produces it, or change the recipe.',
  ),
  plan_too_large: entry(
    2,
    422,
    false,
    'The process would make more model calls than is allowed.',
    'Take fewer participants, or raise the limit.',
  ),
  path_invalid: entry(
    2,
    400,
    false,
    'A path does not belong to the tree of a project.',
    'Use the names that export writes.',
  ),
  recipe_unknown: entry(
    5,
    404,
    false,
    'There is no shipped recipe of that name, and no folder that holds one.',
    '`dialectic recipe list` names the shipped ones; a folder needs process.yaml or stage.yaml.',
  ),
  folder_unusable: entry(
    5,
    404,
    false,
    'A folder or file does not exist, or may not be read or written.',
    'Correct the path, or its rights; the message names it.',
  ),
  folder_occupied: entry(
    5,
    409,
    false,
    'The folder to write into holds something already.',
    'Name a folder that is empty or does not exist yet; nothing was overwritten.',
  ),
  file_not_text: entry(
    2,
    422,
    false,
    'A file is not text in UTF-8, or is a link or a device.',
    'Take it out of the folder, or save it as UTF-8; the message names it.',
  ),
  file_too_large: entry(
    2,
    413,
    false,
    'A file, or all files of a folder together, is larger than is read.',
    'Take out what does not belong there; the message names the limit.',
  ),
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;
