-- Replaced by functions that take several calls at once (functions/*.sql).
drop function if exists note_request(uuid, uuid, text[], text[]);
drop function if exists require_lease(uuid, uuid);
drop function if exists require_funds(uuid, uuid, text, uuid, text, bigint, bigint, bigint, bigint,
  boolean, jsonb);
