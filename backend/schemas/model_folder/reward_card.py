"""What a reward model of ours has beside its body: the file of its head, and its card."""

from backend.schemas.vocabulary import Method, ModelKind

HEAD_FILE = "reward_head.safetensors"
CARD_FILE = "reward_model.json"

# What a card calls its model, which is also the method that trains it.
REWARD_MODEL = Method.REWARD_MODEL.value
PROCESS_REWARD_MODEL = Method.PROCESS_REWARD_MODEL.value

# What the card of a model that was registered as this says.
SAID_OF = {
    ModelKind.REWARD_MODEL: REWARD_MODEL,
    ModelKind.PROCESS_MODEL: PROCESS_REWARD_MODEL,
}
