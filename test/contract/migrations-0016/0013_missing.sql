-- What a document was written without: documents that an earlier failure left unwritten, each with
-- stage, step, lane, branch and the error. Empty where nothing was missing.
alter table documents add column missing jsonb not null default '[]';
