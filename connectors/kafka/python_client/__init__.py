"""Kafka by kafka-python."""
