-- What Algorithm 1 says of a submission; filled by grader/tracks/ccr/__init__.py.
CREATE TEMP TABLE ccr_pairs (
    instance_id   VARCHAR NOT NULL,
    quantity      VARCHAR NOT NULL,   -- its place in the cut tree, such as X1X3
    kind          VARCHAR NOT NULL,   -- global, local
    mediators     INTEGER NOT NULL,
    shortest_path INTEGER NOT NULL,
    eta           DOUBLE,             -- external error of the PNS; NULL without an estimate
    eta_absolute  DOUBLE,             -- the same before it is divided by the truth (G.2)
    valid_share   DOUBLE  NOT NULL,   -- of the estimates that are within the threshold of the truth
    valid         BOOLEAN NOT NULL,
    near_valid    BOOLEAN NOT NULL,
    factual       DOUBLE,             -- unit accuracy by rung; NULL where nothing was answered
    do_true       DOUBLE,
    do_false      DOUBLE,
    violations    DOUBLE,
    answers       BIGINT  NOT NULL,
    invalid       BIGINT  NOT NULL,
    unreadable_factual BIGINT NOT NULL  -- those of them that are factual
);
CREATE TEMP TABLE ccr_compositions (
    instance_id  VARCHAR NOT NULL,
    quantity     VARCHAR NOT NULL,    -- its place in the cut tree, such as X1X2·X2X3
    epsilon      DOUBLE,              -- external error; NULL without an estimate
    gamma        DOUBLE,              -- internal error
    epsilon_absolute DOUBLE,          -- the same before they are divided (G.2, G.4)
    gamma_absolute   DOUBLE,
    valid_share  DOUBLE  NOT NULL,
    valid        BOOLEAN NOT NULL,
    near_valid   BOOLEAN NOT NULL,
    class        VARCHAR NOT NULL,    -- VC, VI, IC, II
    pn_vc        BOOLEAN NOT NULL,    -- whether the composed PN is valid and consistent
    ps_vc        BOOLEAN NOT NULL,
    ate_vc       BOOLEAN NOT NULL
);
CREATE TEMP TABLE ccr_contexts (
    instance_id VARCHAR NOT NULL,
    class       VARCHAR NOT NULL,
    complete    BOOLEAN NOT NULL,
    share       DOUBLE  NOT NULL      -- of compositions that are valid and consistent
);
CREATE TEMP TABLE ccr_composed (
    instance_id   VARCHAR NOT NULL,
    variant       VARCHAR NOT NULL,   -- of the task that states the values
    context_class VARCHAR NOT NULL,   -- of all the values of the task
    eta           DOUBLE,             -- mean external error of its pairs; NULL where one is absent
    epsilon       DOUBLE,
    gamma         DOUBLE,
    epsilon_absolute DOUBLE,
    gamma_absolute   DOUBLE,
    class         VARCHAR NOT NULL    -- of the composition: VC, VI, IC, II
);
CREATE TEMP VIEW ccr_stated AS        -- the tasks about stated values
SELECT task_id, instance_id, family, points FROM scores WHERE track = 'ccr' AND family <> 'simulation';
