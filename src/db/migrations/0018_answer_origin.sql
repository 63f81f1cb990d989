-- Who wrote the answer of a call: a model, a model in an earlier run that is replayed, or the offline
-- author. A replayed answer costs nothing now (cost_micros); what it cost then is kept beside it.
alter table model_calls
  add column origin text not null default 'model'
    check (origin in ('model', 'recording', 'offline')),
  add column recorded_cost_micros bigint check (recorded_cost_micros >= 0),
  add constraint model_calls_recorded_cost_check
    check (recorded_cost_micros is null or origin = 'recording');
