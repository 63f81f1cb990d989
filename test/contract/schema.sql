-- tables and columns
api_tokens.tenant_id uuid not null
api_tokens.id uuid not null
api_tokens.user_id uuid not null
api_tokens.name text not null
api_tokens.token_hash bytea not null
api_tokens.created_at timestamp with time zone not null default app_now()
api_tokens.expires_at timestamp with time zone
api_tokens.revoked_at timestamp with time zone
events.tenant_id uuid not null
events.tx xid8 not null default pg_current_xact_id()
events.id bigint not null identity
events.topic text not null
events.kind text not null
events.payload jsonb not null default '{}'::jsonb
events.created_at timestamp with time zone not null default app_now()
notices.tenant_id uuid not null
notices.id uuid not null
notices.severity text not null
notices.code text not null
notices.message text not null
notices.topic text not null
notices.details jsonb not null default '{}'::jsonb
notices.created_at timestamp with time zone not null default app_now()
notices.dismissed_at timestamp with time zone
schema_migrations.version integer not null
schema_migrations.name text not null
schema_migrations.digest text not null
schema_migrations.applied_at timestamp with time zone not null default now()
tenants.tenant_id uuid not null
tenants.name text not null
tenants.created_at timestamp with time zone not null default app_now()
users.tenant_id uuid not null
users.id uuid not null
users.email text not null
users.name text not null
users.is_owner boolean not null default false
users.created_at timestamp with time zone not null default app_now()

-- constraints
api_tokens api_tokens_pkey PRIMARY KEY (tenant_id, id)
api_tokens api_tokens_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
api_tokens api_tokens_token_hash_key UNIQUE (token_hash)
events events_kind_check CHECK ((kind <> ''::text))
events events_pkey PRIMARY KEY (tenant_id, tx, id)
events events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
events events_topic_check CHECK ((topic <> ''::text))
notices notices_message_check CHECK ((message <> ''::text))
notices notices_pkey PRIMARY KEY (tenant_id, id)
notices notices_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'error'::text])))
notices notices_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
schema_migrations schema_migrations_pkey PRIMARY KEY (version)
tenants tenants_name_check CHECK ((name <> ''::text))
tenants tenants_pkey PRIMARY KEY (tenant_id)
users users_email_check CHECK ((email <> ''::text))
users users_pkey PRIMARY KEY (tenant_id, id)
users users_tenant_id_email_key UNIQUE (tenant_id, email)
users users_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)

-- indexes
CREATE UNIQUE INDEX api_tokens_pkey ON public.api_tokens USING btree (tenant_id, id)
CREATE UNIQUE INDEX api_tokens_token_hash_key ON public.api_tokens USING btree (token_hash)
CREATE INDEX api_tokens_user ON public.api_tokens USING btree (tenant_id, user_id)
CREATE UNIQUE INDEX events_pkey ON public.events USING btree (tenant_id, tx, id)
CREATE INDEX events_topic ON public.events USING btree (tenant_id, topic, tx, id)
CREATE INDEX notices_open ON public.notices USING btree (tenant_id, created_at) WHERE (dismissed_at IS NULL)
CREATE UNIQUE INDEX notices_pkey ON public.notices USING btree (tenant_id, id)
CREATE UNIQUE INDEX schema_migrations_pkey ON public.schema_migrations USING btree (version)
CREATE UNIQUE INDEX tenants_pkey ON public.tenants USING btree (tenant_id)
CREATE UNIQUE INDEX users_pkey ON public.users USING btree (tenant_id, id)
CREATE UNIQUE INDEX users_tenant_id_email_key ON public.users USING btree (tenant_id, email)

-- row-level security
api_tokens enabled=t forced=t
events enabled=t forced=t
notices enabled=t forced=t
schema_migrations enabled=f forced=f
tenants enabled=t forced=t
users enabled=t forced=t

-- policies
api_tokens dialectic_auth_all ALL to {dialectic_auth} using (true) check (true)
api_tokens tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
events dialectic_worker_all ALL to {dialectic_worker} using (true) check (true)
events tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
notices dialectic_worker_all ALL to {dialectic_worker} using (true) check (true)
notices tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
tenants dialectic_auth_all ALL to {dialectic_auth} using (true) check (true)
tenants tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
users dialectic_auth_all ALL to {dialectic_auth} using (true) check (true)
users tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))

-- grants
api_tokens dialectic_app DELETE, INSERT, SELECT, UPDATE
api_tokens dialectic_auth SELECT
events dialectic_app INSERT, SELECT
events dialectic_worker INSERT, SELECT
notices dialectic_app INSERT, SELECT, UPDATE
notices dialectic_worker INSERT
tenants dialectic_app SELECT
tenants dialectic_auth INSERT, SELECT
users dialectic_app DELETE, INSERT, SELECT, UPDATE
users dialectic_auth INSERT, SELECT

-- triggers
CREATE TRIGGER events_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
CREATE TRIGGER events_notify AFTER INSERT ON public.events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION notify_events()

-- functions
CREATE OR REPLACE FUNCTION public.app_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN COALESCE((NULLIF(current_setting('dialectic.now'::text, true), ''::text))::timestamp with time zone, statement_timestamp())
CREATE OR REPLACE FUNCTION public.current_tenant()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('dialectic.tenant'::text, true), ''::text))::uuid
CREATE OR REPLACE PROCEDURE public.isolate_table(IN table_name text, IN privileges text)
 LANGUAGE plpgsql
AS $procedure$
begin
  execute format('alter table %I enable row level security', table_name);
  execute format('alter table %I force row level security', table_name);
  execute format(
    'create policy tenant_only on %I for all to dialectic_app '
    'using (tenant_id = (select current_tenant())) '
    'with check (tenant_id = (select current_tenant()))',
    table_name
  );
  execute format('grant %s on %I to dialectic_app', privileges, table_name);
end
$procedure$
CREATE OR REPLACE FUNCTION public.notify_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('dialectic_events', tenant_id::text)
    from (select distinct tenant_id from added) as tenants;
  return null;
end
$function$
CREATE OR REPLACE PROCEDURE public.open_table(IN table_name text, IN to_role text, IN privileges text)
 LANGUAGE plpgsql
AS $procedure$
begin
  execute format(
    'create policy %I on %I for all to %I using (true) with check (true)',
    to_role || '_all', table_name, to_role
  );
  execute format('grant %s on %I to %I', privileges, table_name, to_role);
end
$procedure$
CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only', tg_table_name
    using errcode = 'DX000', hint = 'access_denied';
end
$function$
