-- The figures of every program's answer, read out of extra_json once for all queries of the track. A
-- figure that a task or an answer has not is null.
CREATE OR REPLACE TEMP TABLE replayscm_marks AS
SELECT
    instance_id, family, structure, points,
    unnest(from_json(extra_json, '{
        "matched": "DOUBLE", "level": "DOUBLE", "determined": "DOUBLE", "unique": "DOUBLE",
        "has_shifted": "DOUBLE", "kill_coverage": "DOUBLE",
        "strict_json": "DOUBLE", "extracted_json": "DOUBLE", "schema": "DOUBLE", "keys": "DOUBLE",
        "parse": "DOUBLE", "legal": "DOUBLE", "acyclic": "DOUBLE",
        "train_exact": "DOUBLE", "train_world_exact": "DOUBLE", "train_cell": "DOUBLE",
        "heldout_exact": "DOUBLE", "heldout_world_exact": "DOUBLE", "heldout_cell": "DOUBLE",
        "shifted_exact": "DOUBLE", "shifted_world_exact": "DOUBLE", "root_exact": "DOUBLE",
        "wrong_determined": "DOUBLE", "wrong_undetermined": "DOUBLE",
        "parent_recall": "DOUBLE", "parent_f1": "DOUBLE", "parent_shd": "DOUBLE",
        "parent_missed": "DOUBLE", "parent_added": "DOUBLE",
        "ast_size": "DOUBLE", "ast_gold": "DOUBLE", "separating_support": "DOUBLE",
        "parent_variable_exact": "DOUBLE", "parent_map_exact": "DOUBLE",
        "local_match": "DOUBLE", "local_full": "DOUBLE",
        "alternative": "DOUBLE", "experiment_valid": "DOUBLE", "separates": "DOUBLE",
        "witness": "DOUBLE", "joint": "DOUBLE", "pair_disagreement": "DOUBLE",
        "cell_difference": "DOUBLE", "optimality": "DOUBLE", "one_variable_edit": "DOUBLE",
        "one_variable_same_parents": "DOUBLE", "one_variable_new_parents": "DOUBLE",
        "vars_depth_1": "BIGINT", "vars_depth_2": "BIGINT", "vars_depth_3": "BIGINT",
        "changed_depth_1": "BIGINT", "changed_depth_2": "BIGINT", "changed_depth_3": "BIGINT",
        "moved_depth_1": "BIGINT", "moved_depth_2": "BIGINT", "moved_depth_3": "BIGINT",
        "asked_place_0": "BIGINT", "asked_place_1": "BIGINT", "asked_place_2": "BIGINT",
        "asked_place_3": "BIGINT", "asked_place_4": "BIGINT",
        "right_place_0": "BIGINT", "right_place_1": "BIGINT", "right_place_2": "BIGINT",
        "right_place_3": "BIGINT", "right_place_4": "BIGINT"
    }'))
FROM scores
WHERE track = 'replayscm';
