-- A document's anchor within its stage is the entry of that stage in its relationships, and nothing
-- else: the stored column could say something different for headers, which are their own anchor.
alter table documents drop column anchor_id;
alter table documents
  add column anchor_id uuid generated always as ((relationships ->> stage_key)::uuid) stored;
