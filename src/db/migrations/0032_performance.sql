-- How the work with sources goes: latencies, hit rates and the settings that follow from them, added up
-- by the processes of a tenant. `dialectic doctor` shows it, and the next process goes on with it.
create table performance (
  tenant_id uuid primary key references tenants,
  measured_at timestamptz not null default app_now(),
  metrics jsonb not null
);
call isolate_table('performance', 'select, insert, update');
