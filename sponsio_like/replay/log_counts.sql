-- name: contracts
WITH named AS (
  SELECT DISTINCT c.contract AS contract FROM log, unnest(contracts) AS t(c)
), applied AS (
  SELECT contract, count(*) AS applied, min(timestamp) AS first, max(timestamp) AS last
  FROM (SELECT unnest(applied) AS contract, timestamp FROM told
        WHERE again IS NULL AND event IN ('decision', 'message'))
  GROUP BY contract
), each AS (
  SELECT n, session, outcome, again, event, timestamp, unnest(violations) AS v FROM told
), violated AS (
  SELECT v.contract AS contract,
    count(DISTINCT n) FILTER (event IN ('decision', 'message') AND again IS NULL) AS broken,
    count(*) FILTER (v.action IN ('blocked', 'custom') AND v.mode = 'enforce') AS blocked,
    count(*) FILTER (v.action = 'held' AND v.mode = 'enforce'
      AND coalesce(outcome, '') NOT IN ('allowed', 'redirected')) AS held,
    count(*) FILTER (v.action = 'held' AND v.mode = 'enforce'
      AND outcome IN ('allowed', 'redirected')) AS approved,
    count(*) FILTER (v.action = 'redirected' AND v.mode = 'enforce') AS redirected,
    count(*) FILTER (v.action IN ('blocked', 'custom', 'held', 'redirected')
      AND v.mode = 'observe') AS would,
    count(*) FILTER (v.action = 'warned') AS warned,
    count(*) FILTER (v.action = 'reported') AS late,
    any_value(v.message) AS message, any_value(v.because) AS because,
    any_value(v.owner) AS owner, any_value(v.severity) AS severity,
    min(timestamp) AS first, max(timestamp) AS last
  FROM each GROUP BY 1
), owed AS (
  SELECT u.contract AS contract, count(*) AS unfulfilled, any_value(u.message) AS message
  FROM (SELECT unnest(unfulfilled) AS u FROM told) GROUP BY 1
), met AS (
  SELECT contract, count(DISTINCT session) AS sessions
  FROM (SELECT session, v.contract AS contract FROM each
        UNION ALL SELECT session, unnest(unfulfilled).contract FROM told) GROUP BY 1
), modes AS (
  SELECT c.contract AS contract, last(c.mode) AS mode FROM log, unnest(contracts) AS t(c)
  GROUP BY 1
)
SELECT contract, mode, coalesce(applied, 0) AS applied, coalesce(broken, 0) AS broken,
  coalesce(blocked, 0) AS blocked, coalesce(held, 0) AS held, coalesce(approved, 0) AS approved,
  coalesce(redirected, 0) AS redirected, coalesce(would, 0) AS would, coalesce(warned, 0) AS warned,
  coalesce(late, 0) AS late, coalesce(unfulfilled, 0) AS unfulfilled,
  coalesce(sessions, 0) AS sessions, coalesce(v.message, o.message, '') AS message,
  coalesce(because, '') AS because, coalesce(owner, '') AS owner,
  coalesce(severity, '') AS severity, v.first AS first, v.last AS last
FROM (SELECT contract FROM named UNION SELECT contract FROM applied
      UNION SELECT contract FROM violated UNION SELECT contract FROM owed)
LEFT JOIN applied a USING (contract) LEFT JOIN violated v USING (contract)
LEFT JOIN owed o USING (contract) LEFT JOIN modes USING (contract)
LEFT JOIN met USING (contract)
ORDER BY coalesce(a.applied, 0) > 0 OR coalesce(met.sessions, 0) > 0,
  coalesce(v.blocked + v.held + v.redirected + v.would, 0) DESC, coalesce(v.warned, 0) DESC,
  contract
-- name: tools_of
SELECT v.contract AS contract, coalesce(v.tool, '(no call)') AS tool, count(*) AS n
FROM (SELECT unnest(violations) AS v FROM told) GROUP BY 1, 2 ORDER BY 1, n DESC, 2
-- name: examples
SELECT v.contract AS contract, session, v.position AS position, coalesce(v.tool, '') AS tool,
  v.action AS action, v.mode AS mode, args, strftime(timestamp, '%Y-%m-%d %H:%M:%S') AS at
FROM (SELECT session, args, timestamp, n, unnest(violations) AS v FROM told)
QUALIFY row_number() OVER (PARTITION BY v.contract ORDER BY n) <= 3 ORDER BY v.contract, n
-- name: afterwards
WITH stopped AS (
  SELECT DISTINCT session FROM told WHERE event = 'decision' AND outcome = 'blocked'
), steps AS (
  SELECT n, session, tool, outcome, digest, violations,
    lead(tool) OVER s AS next_tool, lead(outcome) OVER s AS next_outcome
  FROM told SEMI JOIN stopped USING (session)
  WHERE event = 'decision' AND again IS NULL WINDOW s AS (PARTITION BY session ORDER BY n)
), each AS (
  SELECT DISTINCT n, tool, next_tool, next_outcome, unnest(violations).contract AS contract
  FROM steps WHERE outcome = 'blocked'
)
SELECT contract,
  count(*) FILTER (next_tool IS NULL) AS stopped,
  count(*) FILTER (next_tool = tool AND next_outcome = 'blocked') AS again,
  count(*) FILTER (next_tool IS NOT NULL
    AND NOT (next_tool = tool AND next_outcome = 'blocked')) AS otherwise
FROM each GROUP BY 1
-- name: told_of
SELECT v.contract AS contract, any_value(a.advice) AS advice
FROM (SELECT session, id, unnest(violations) AS v FROM told WHERE outcome = 'blocked') b
JOIN (SELECT session, id, advice FROM log WHERE event = 'advice') a USING (session, id) GROUP BY 1
-- name: totals
SELECT count(*) FILTER (event = 'decision' OR (event = 'message' AND role = 'assistant'))
    AS decisions, count(*) FILTER (event = 'decision') AS calls,
  count(DISTINCT session) AS sessions, min(timestamp) AS first, max(timestamp) AS last,
  coalesce(sum(records) FILTER (event = 'dropped'), 0)::BIGINT AS dropped,
  count(*) FILTER (event = 'relaxed') AS relaxed
FROM log
-- name: outcomes
SELECT outcome, count(*) AS n FROM log
WHERE event = 'decision' OR (event = 'message' AND role = 'assistant')
GROUP BY 1 ORDER BY n DESC, 1
-- name: tools
SELECT tool, count(*) AS n, count(*) FILTER (outcome <> 'allowed') AS stopped,
  count(*) FILTER (would IS NOT NULL) AS would
FROM log WHERE event = 'decision' GROUP BY 1 ORDER BY n DESC, 1 LIMIT 50
-- name: agents
SELECT agent, count(*) AS n, count(*) FILTER (outcome <> 'allowed') AS stopped,
  count(*) FILTER (would IS NOT NULL) AS would
FROM log WHERE event = 'decision' GROUP BY 1 ORDER BY n DESC, 1 LIMIT 50
-- name: latency
SELECT count(microseconds) AS n, quantile_disc(microseconds, 0.5) AS p50,
  quantile_disc(microseconds, 0.9) AS p90, quantile_disc(microseconds, 0.99) AS p99,
  max(microseconds) AS most
FROM log WHERE event = 'decision'
-- name: sources
SELECT DISTINCT source FROM log WHERE source IS NOT NULL ORDER BY 1
-- name: over_time
WITH span AS (
  SELECT min(epoch(timestamp)) AS low, greatest(max(epoch(timestamp)) - min(epoch(timestamp)), 0.001)
    AS width FROM log
)
SELECT least(floor((epoch(timestamp) - low) / width * 48), 47)::INT AS bin, count(*) AS n,
  count(*) FILTER (outcome <> 'allowed') AS stopped,
  count(*) FILTER (outcome = 'allowed' AND len(violations) > 0) AS broken
FROM log, span WHERE event = 'decision' GROUP BY 1 ORDER BY 1
-- name: sessions
SELECT session, count(*) FILTER (event = 'decision') AS decisions,
  count(*) FILTER (len(violations) > 0) AS broken, min(timestamp) AS first
FROM told WHERE session IS NOT NULL GROUP BY 1
HAVING broken > 0 OR (SELECT count(DISTINCT session) FROM told) <= 20
ORDER BY broken DESC, session LIMIT 20
-- name: timeline
SELECT strftime(timestamp, '%H:%M:%S') AS at, event, coalesce(tool, role, '') AS name,
  coalesce(outcome, status, '') AS became, would, args,
  violations, unfulfilled
FROM log WHERE session = ? AND (event <> 'settlement' OR status <> 'ok' OR len(violations) > 0)
ORDER BY rowid LIMIT 200
