def test_the_recorded_table_is_plain_data():
    import json

    import gemmlab as lab

    assert json.loads(json.dumps(lab.experiments.pitfalls().to_dict()))["ways"]
