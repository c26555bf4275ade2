-- One row per graded task. Everything the report says is an aggregate of this table.
CREATE TEMP TABLE scores (
    task_id        VARCHAR PRIMARY KEY,
    instance_id    VARCHAR NOT NULL,
    track          VARCHAR NOT NULL,
    family         VARCHAR NOT NULL,
    variant        VARCHAR NOT NULL,
    rung           INTEGER NOT NULL,
    view           VARCHAR NOT NULL,
    structure      VARCHAR NOT NULL,   -- kind of instance: a motif of scenes, a family of programs
    input_mode     VARCHAR NOT NULL,   -- data: tables stand beside the prompt; story; prompt
    pool           VARCHAR NOT NULL,   -- which losses it joins: pass, nrel_point, nrel_interval, f1
    status         VARCHAR NOT NULL,   -- scored, missing, invalid
    reason         VARCHAR NOT NULL,
    metric         VARCHAR NOT NULL,   -- rae, f1, exact, …
    metric_value   DOUBLE,             -- NULL = nothing to measure
    loss           DOUBLE  NOT NULL,   -- fixed reading, capped
    points         DOUBLE  NOT NULL,   -- 0 to 1 in here; files that are handed out have 0 to 100
    paper_pool     VARCHAR,            -- paper reading: follows the answer too; NULL = dropped
    paper_loss     DOUBLE,
    abstained      BOOLEAN NOT NULL,
    should_abstain BOOLEAN NOT NULL,
    coverage       DOUBLE,             -- share of truths inside the intervals given
    interval_width DOUBLE,
    extra_json     VARCHAR NOT NULL,
    message        VARCHAR NOT NULL,
    nominal_coverage DOUBLE,           -- coverage that an interval is asked for, such as 0.95
    bundle         VARCHAR NOT NULL,   -- tasks that ask one formal problem; empty for most
    arm            VARCHAR NOT NULL,   -- what differs inside a bundle: the view, or the telling
    floor          DOUBLE              -- points that knowing nothing earns, on the scale of points
);

-- What answering cost, as submitted (usage.jsonl); tokens are prompt and completion.
CREATE TEMP TABLE usage (
    task_id       VARCHAR PRIMARY KEY,
    input_tokens  DOUBLE,
    output_tokens DOUBLE,
    tool_calls    DOUBLE,
    seconds       DOUBLE,
    cost_usd      DOUBLE,
    ending        VARCHAR             -- one of the known ones; NULL = not told
);

-- The two readings, one under the other: the same aggregates serve both.
CREATE TEMP VIEW losses AS
    SELECT 'paper' AS reading, task_id, track, paper_pool AS pool, paper_loss AS loss
    FROM scores WHERE paper_pool IS NOT NULL
    UNION ALL
    SELECT 'fixed' AS reading, task_id, track, pool, loss
    FROM scores;

-- Each task once for every axis that people compare along.
CREATE TEMP VIEW axes AS
    SELECT scores.*, unnest([
        {'axis': 'rung',       'level': CAST(rung AS VARCHAR)},
        {'axis': 'family',     'level': family},
        {'axis': 'variant',    'level': family || '.' || variant},
        {'axis': 'view',       'level': view},
        {'axis': 'structure',  'level': structure},
        {'axis': 'input_mode', 'level': input_mode}
    ], recursive := true)
    FROM scores;
