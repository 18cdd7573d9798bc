-- One index of words finds payments by parts of what people know of them. It replaces those that found whole values alone.
-- It holds payments that have ended, so that creating one and each of its changes write nothing (docs/design/dashboard.md).
-- Built beside the writers of a filled database (docs/decisions/0107): one that is half built is built anew.

-- Both functions are restricted, because the planner would start workers, which takes longer than a search.

-- The words of some texts in lower case, with one space between them. A database of the locale C knows no case beyond ASCII.
create or replace function search_text(texts text) returns text language plpgsql immutable parallel restricted cost 300 as $$
declare
  -- The class stands in src/store/payments/search-words.ts too.
  words text := btrim(regexp_replace(lower(texts),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u3000-\u303f]+', ' ', 'g'));
begin
  if words ~ '[\u00c0-\u00de\u0104-\u0178\u0179-\u017d\u0218-\u021a\u0386-\u03ab\u0400-\u042f]' then
    return translate(words,
      'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĄĆČĎĐĘĚĞĽŁŃŇŐŒŘŚŞŠŤŮŰŸŹŻŽȘȚΆΈΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩЁЄІЇАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ',
      'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþąćčďđęěğľłńňőœřśşšťůűÿźżžșțάέήίόύώαβγδεζηθικλμνξοπρστυφχψωёєіїабвгдежзийклмнопрстуфхцчшщъыьэюя');
  end if;
  return words;
end $$;

-- The same as they are indexed, each behind `scope`, so that no word of one scope is among those of another.
create or replace function search_words(scope text, words text) returns tsvector
language plpgsql immutable parallel restricted cost 500 as $$
begin
  if words = '' then
    return ''::tsvector;
  end if;
  -- An index refuses words of some thousand bytes.
  if words ~ '[^ ]{51}' then
    words := regexp_replace(words, '([^ ]{50})[^ ]+', '\1', 'g');
  end if;
  return array_to_tsvector(string_to_array(scope || replace(words, ' ', ' ' || scope), ' '));
end $$;

-- Of addresses and hashes the beginning is enough, and takes a fifth of the space. Amounts begin with a letter that nobody
-- types. A small list of what is pending keeps
-- searches and the change that empties it short.
drop index concurrently if exists payments_ended_by_words;
create index concurrently payments_ended_by_words on payments using gin (search_words(
    right(project_id::text, 3) || left(mode, 1),
    search_text(coalesce(merchant_order_id, '') || ' ' || coalesce(customer_email, '') || ' ' || coalesce(customer_name, '') || ' '
      || coalesce(description, '') || ' ' || coalesce(transaction_number, '') || ' ' || left(coalesce(address, ''), 12)
      || ' ' || left(coalesce(transaction_hash, ''), 12) || ' ʬ' || currency || amount_minor::text)
  )) with (gin_pending_list_limit = 1024)
  where status in ('completed', 'failed', 'expired', 'cancelled');
drop index concurrently if exists payments_ended_by_order_id;
drop index concurrently if exists payments_ended_by_email;
drop index concurrently if exists payments_ended_by_description;
drop index concurrently if exists payments_ended_by_test_address;
drop index concurrently if exists payments_ended_by_test_hash;

drop index concurrently if exists payment_notes_by_words;
create index concurrently payment_notes_by_words on payment_notes using gin (search_words('', search_text(body)));
