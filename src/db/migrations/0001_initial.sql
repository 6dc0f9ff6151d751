-- The tables of the survey platform whose responses this service hands out, the keys of those who may have them, and the
-- database role the Worker connects as. Column names are the platform's, so that its data loads as it is.

create table users (
  id    uuid primary key default gen_random_uuid(),
  email text not null unique
);

-- One row per form version. A survey is all rows of one user with one survey_name.
create table surveys (
  id               uuid primary key default gen_random_uuid(),
  userid           uuid not null references users,
  survey_name      text not null,
  shortcode        text not null,
  title            text not null,
  formid           text not null,
  created          timestamptz not null default now(),
  metadata         jsonb not null default '{}',
  translation_conf jsonb not null default '{}'
);

create index surveys_by_account on surveys (userid, survey_name);

create table survey_settings (
  surveyid uuid primary key references surveys,
  timeouts jsonb,
  off_time timestamptz
);

-- The primary key's index is the one the page query walks: per form in the order in which responses are handed out.
create table responses (
  parent_surveyid     uuid,
  parent_shortcode    text not null,
  surveyid            uuid not null references surveys,
  shortcode           text not null,
  flowid              bigint not null,
  userid              text not null,
  question_ref        text not null,
  question_idx        integer not null,
  question_text       text not null,
  response            text not null,
  seed                bigint,
  pageid              text,
  timestamp           timestamptz not null,
  metadata            jsonb,
  translated_response text,
  primary key (surveyid, timestamp, userid, question_ref),
  -- RFC 3339 has four-digit years of the common era: any other time could be stored, but not handed out or resumed from.
  constraint responses_timestamp_rfc3339 check (timestamp >= '0001-01-01Z' and timestamp < '10000-01-01Z')
);

create table api_keys (
  id        uuid primary key default gen_random_uuid(),
  userid    uuid not null references users,
  name      text not null,
  prefix    text not null,
  hash      text not null unique, -- lowercase hex SHA-256 of the whole key
  created   timestamptz not null default now(),
  expires   timestamptz,
  revoked   timestamptz,
  last_used timestamptz
);

create index api_keys_by_account on api_keys (userid);

-- Roles belong to the whole cluster: another database of it may have made this one already, or be making it right now.
-- Before a table was ever analysed, Postgres believes that a form has few responses, and would read and sort all of them for
-- every page, by way of a bitmap: of the plans that the role's queries can have, an index scan is never the worse one.
-- The role has no password, so nobody can log in as it until the operator sets one.
do $$
begin
  if not exists (select from pg_roles where rolname = 'survey_export_worker') then
    create role survey_export_worker login;
    alter role survey_export_worker set enable_bitmapscan = off;
    execute format('grant survey_export_worker to %I', current_user); -- so that the migrating user may SET ROLE to it
  end if;
exception when duplicate_object or unique_violation then
  null;
end
$$;

grant usage on schema public to survey_export_worker;
grant select on users, surveys, survey_settings, responses, api_keys to survey_export_worker;
grant update (last_used) on api_keys to survey_export_worker;
