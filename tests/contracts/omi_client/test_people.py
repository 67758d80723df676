"""People calls of the released app (R1)."""

from typing import Any

import pytest

from tests.contracts.omi_client.objects import PERSON
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import each

PEOPLE = "/v1/users/people"


def list_people(phone: Phone) -> dict[str, dict[str, Any]]:
    people = phone.get(PEOPLE, each(PERSON), include_speech_samples="true")
    return {person["id"]: person for person in people}


def add_person(phone: Phone, name: str) -> dict[str, Any]:
    person: dict[str, Any] = phone.send("POST", PEOPLE, PERSON, json={"name": name})
    return person


@pytest.mark.client_call("getAllPeople")
def test_a_person_is_listed_as_created_r1(phone):
    ann = add_person(phone, "Ann")

    assert ann["name"] == "Ann"
    assert list_people(phone) == {ann["id"]: ann}


@pytest.mark.client_call("createPerson")
def test_an_equal_name_is_the_person_there_is_r1(phone):
    ann = add_person(phone, "Ann")

    assert add_person(phone, "Ann") == ann
    assert add_person(phone, "Anna")["id"] != ann["id"]


@pytest.mark.client_call("updatePersonName", "getAllPeople")
def test_a_name_that_was_changed_may_be_given_again_r1(phone):
    ann = add_person(phone, "Ann")
    phone.send("PATCH", f"{PEOPLE}/{ann['id']}/name", params={"value": "Anna"})

    another_ann = add_person(phone, "Ann")

    names = {name: person["name"] for name, person in list_people(phone).items()}
    assert names == {ann["id"]: "Anna", another_ann["id"]: "Ann"}


@pytest.mark.client_call("getAllPeople")
def test_all_people_come_at_once_r1(phone):
    ids = {add_person(phone, f"Person {n}")["id"] for n in range(101)}

    assert list_people(phone).keys() == ids


@pytest.mark.client_call("deletePerson", "getAllPeople")
def test_a_deleted_person_is_gone_r1(phone):
    ann = add_person(phone, "Ann")

    phone.send("DELETE", f"{PEOPLE}/{ann['id']}", status=204)

    assert list_people(phone) == {}
