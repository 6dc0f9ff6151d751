-- Prepares a database that already has the platform's tables: see "The platform's own database" in deploy.md.

-- Replaces the primary key of 0001_initial.sql. Leave it out if `responses` has that key.
create unique index concurrently responses_in_order on responses (surveyid, timestamp, userid, question_ref);
-- Must have this name, so that migration 0002 finds it.
create index concurrently responses_by_participant on responses (surveyid, userid, timestamp, question_ref);
create index concurrently surveys_by_account on surveys (userid, survey_name);

-- The rest of 0001_initial.sql.
begin;
set local lock_timeout = '5s'; -- fail and try again rather than block the platform
create table api_keys (
  id        uuid primary key default gen_random_uuid(),
  userid    uuid not null references users,
  name      text not null,
  prefix    text not null,
  hash      text not null unique,
  created   timestamptz not null default now(),
  expires   timestamptz,
  revoked   timestamptz,
  last_used timestamptz
);
create index api_keys_by_account on api_keys (userid);
alter table responses add constraint responses_timestamp_rfc3339
  check (timestamp >= '0001-01-01Z' and timestamp < '10000-01-01Z') not valid;
do $$ begin
  execute format('create role survey_export_worker login password %L', gen_random_uuid()::text || gen_random_uuid());
end $$;
alter role survey_export_worker set enable_bitmapscan = off;
grant usage on schema public to survey_export_worker;
grant select on users, surveys, survey_settings, responses, api_keys to survey_export_worker;
create table schema_migrations (name text primary key, applied timestamptz not null default now());
insert into schema_migrations (name) values ('0001_initial.sql');
commit;
alter table responses validate constraint responses_timestamp_rfc3339; -- reads the table, blocks no writes
