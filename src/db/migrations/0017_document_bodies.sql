-- The Markdown of a document as prompts show it, stored with the document: without front matter and
-- without what code fills in, since debaters do not learn who wrote what. Null where the step has no
-- template, and for documents of earlier releases until a prompt or a RENDER job needs them.
-- markdown_hash is the page that people read.
alter table documents add column body_hash text;
alter table documents add foreign key (tenant_id, body_hash) references blobs;
