-- The tables of the survey platform whose responses this service exports, the API keys, and the database role of the Worker.
-- Column names are the platform's, so that its data can be loaded unchanged.

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

-- The page query walks the primary key's index, which has each form version's responses in the order of pages.
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
  -- RFC 3339 has four-digit years of the common era: any other time could be stored, but not exported or resumed from.
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

-- Roles belong to the whole cluster: another of its databases may have created this one already, or be creating it now.
-- Before a table is first analysed, Postgres expects few responses per form version, and would read all of them with a bitmap
-- scan and sort them for every page. For the role's queries, an index scan is never slower.
-- Nobody knows the role's random password: "npm run db:worker-url" sets another. Neon does not accept a role without one, or a
-- hash in its place.
do $$
begin
  if not exists (select from pg_roles where rolname = 'survey_export_worker') then
    execute format('create role survey_export_worker login password %L', gen_random_uuid()::text || gen_random_uuid());
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
