"""The constraints that fail late: optimizers, schedules, lengths, swapped blocks, network modules."""

from __future__ import annotations

from oracle_constraints import (
    CACHES,
    DATA,
    LOSS,
    PARSER,
    PATHS,
    PRECISION,
    TRANSFORMERS,
    Constraint,
    both,
    lora,
    named,
)

OPTIMIZERS = (
    Constraint(
        "old-flags",
        (
            {"use_8bit_adam": True, "optimizer_type": "AdamW"},
            {"use_lion_optimizer": True, "use_8bit_adam": True},
            {"use_lion_optimizer": True, "optimizer_type": "Lion"},
        ),
        ({"use_lion_optimizer": True},),
    ),
    Constraint(
        "fused",
        (
            {"fused_backward_pass": True},
            {"fused_backward_pass": True, "optimizer_type": "Adafactor", "gradient_accumulation_steps": 2},
        ),
        ({"fused_backward_pass": True, "optimizer_type": "Adafactor"},),
    ),
    Constraint(
        "optimizer-args",
        tuple(
            {"optimizer_args": [word]}
            for word in ("weight_decay", "weight_decay=0.1,", "amsgrad=true", "betas=0.9=0.99", "no_such=1")
        ),
        (
            {"optimizer_args": ["weight_decay=0.1", "betas=0.9,0.99"]},
            {"optimizer_args": ["weight_decay=0.1", "amsgrad=True"]},
        ),
    ),
    Constraint(
        "optimizer-name",
        tuple({"optimizer_type": name} for name in ("adagrad", "AdEMAMix8bit", "DAdaptFast", "no.Such")),
        tuple({"optimizer_type": name} for name in ("Adagrad", "adamw", "RAdam", "torch.optim.AdamW")),
    ),
    Constraint(
        "optimizer-package",
        tuple({"optimizer_type": name} for name in ("DAdaptation", "DAdaptLion", "came_pytorch.CAME")),
        tuple(
            {"optimizer_type": name}
            for name in ("Prodigy", "Lion", "AdamWScheduleFree", "pytorch_optimizer.CAME", "SGDNesterov")
        ),
    ),
    Constraint(
        "adafactor",
        (
            {"optimizer_type": "Adafactor", "lr_warmup_steps": 1},
            {"optimizer_type": "Adafactor", "optimizer_args": ["relative_step=True"], "lr_warmup_steps": 1},
            {
                "optimizer_type": "Adafactor",
                "optimizer_args": ["relative_step=False"],
                "lr_scheduler": "adafactor",
            },
        ),
        (
            {"optimizer_type": "Adafactor"},
            {
                "optimizer_type": "Adafactor",
                "optimizer_args": ["relative_step=False", "scale_parameter=False", "warmup_init=False"],
                "lr_scheduler": "constant_with_warmup",
                "lr_warmup_steps": 1,
            },
            {"optimizer_type": "Adafactor", "lr_scheduler": "cosine"},
        ),
    ),
    Constraint(
        "no-params",
        (
            {"network_train_unet_only": True, "network_train_text_encoder_only": True},
            {"learning_rate": 0},
            {"learning_rate": 0, "unet_lr": 0, "text_encoder_lr": [0]},
        ),
        ({"unet_lr": 0}, {"text_encoder_lr": [0, 0]}, {"network_train_text_encoder_only": True}),
        where=lora,
    ),
    Constraint("rate-zero", ({"learning_rate": 0},), (), where=lambda script: not lora(script)),
    Constraint(
        "groups",
        (
            {"fused_optimizer_groups": 2, "optimizer_type": "Adafactor"},
            {"blockwise_fused_optimizers": True, "optimizer_type": "Adafactor"},
            {"blockwise_fused_optimizers": True, "optimizer_type": "AdamWScheduleFree"},
            {"blockwise_fused_optimizers": True, "num_last_block_to_freeze": 2},
        ),
        ({"fused_optimizer_groups": 2}, {"blockwise_fused_optimizers": True}),
        where=named("sdxl_train.", "flux_train.", "sd3_train.", "lumina_train.", "flux_train_control"),
    ),
    Constraint(
        "block-rates",
        ({"block_lr": ",".join(["1e-5"] * 22)},),
        ({"block_lr": ",".join(["1e-5"] * 23)},),
        where=named("sdxl_train."),
    ),
    Constraint(
        "stop-text",
        ({"stop_text_encoder_training": 1}, {"stop_text_encoder_training": 0}),
        ({"stop_text_encoder_training": -1}, {"stop_text_encoder_training": 100}),
        where=named("train_db."),
    ),
)

SCHEDULES = (
    Constraint(
        "warmup",
        ({"lr_warmup_steps": 1}, {"lr_scheduler": "constant", "lr_warmup_steps": 0.1}),
        ({"lr_scheduler": "constant_with_warmup", "lr_warmup_steps": 1}, {"lr_warmup_steps": 0}),
    ),
    Constraint(
        "scheduler-type",
        ({"lr_scheduler_type": "CosineAnnealingLR"},),
        (
            {"lr_scheduler_type": "CosineAnnealingLR", "lr_scheduler_args": ["T_max=10"]},
            {
                "lr_scheduler_type": "CosineAnnealingLR",
                "lr_scheduler_args": ["T_max=10"],
                "lr_warmup_steps": 1,
            },
        ),
    ),
    Constraint("scheduler-adafactor", ({"lr_scheduler": "adafactor"},)),
    Constraint(
        "min-lr",
        (
            {"lr_scheduler": "cosine_with_min_lr"},
            {
                "lr_scheduler": "cosine_with_min_lr",
                "lr_scheduler_min_lr_ratio": 0.1,
                "lr_scheduler_args": ["min_lr=1e-6"],
            },
        ),
        ({"lr_scheduler": "cosine_with_min_lr", "lr_scheduler_min_lr_ratio": 0.1},),
    ),
    Constraint(
        "scheduler-name",
        tuple(
            {"lr_scheduler": name}
            for name in ("reduce_lr_on_plateau", "cosine_warmup_with_min_lr", "piecewise_constant", "step")
        ),
        (
            {"lr_scheduler": "piecewise_constant", "lr_scheduler_args": ["step_rules='1:1,0.1'"]},
            {"lr_scheduler": "cosine_with_restarts", "lr_scheduler_num_cycles": 3},
            {"lr_scheduler": "polynomial", "lr_warmup_steps": "10%"},
            {"lr_scheduler": "warmup_stable_decay", "lr_warmup_steps": 1, "lr_decay_steps": 1},
            {"lr_scheduler": "inverse_sqrt", "lr_warmup_steps": 1},
        ),
    ),
    Constraint(
        "scheduler-args",
        ({"lr_scheduler": "cosine", "lr_scheduler_args": ["x"]},),
        ({"lr_scheduler": "cosine_with_min_lr", "lr_scheduler_args": ["min_lr=1e-6"]},),
    ),
    Constraint(
        "intervals",
        (
            {"save_every_n_steps": 0},
            {"save_every_n_epochs": 0},
            {"gradient_accumulation_steps": 0},
            {"validate_every_n_steps": 0, "dataset.validation_split": 0.5, "dataset.validation_seed": 1},
            {"validate_every_n_epochs": 0, "dataset.validation_split": 0.5, "dataset.validation_seed": 1},
        ),
        (
            {"save_every_n_steps": 1, "save_state": True},
            {"save_every_n_epochs": 1, "save_last_n_epochs": 1},
            {"save_n_epoch_ratio": 1},
            {"gradient_accumulation_steps": 2},
        ),
    ),
    Constraint(
        "first-step",
        ({"initial_step": 2}, {"initial_step": 3}, {"initial_epoch": 3}),
        ({"initial_step": 1}, {"initial_epoch": 1}, {"initial_step": 1, "skip_until_initial_step": True}),
        where=lora,
    ),
    Constraint("length", ({"max_train_steps": 0}, {"max_train_epochs": 0}), ({"max_train_epochs": 1},)),
)

SWAPS = (
    Constraint(
        "swap-max",
        tuple({"blocks_to_swap": number} for number in (23, 25, 27, 36, 38)),
        tuple({"blocks_to_swap": number} for number in (0, 1, 22, 24, 26, 35, 37)),
        where=TRANSFORMERS,
    ),
    Constraint(
        "swap-offload",
        ({"blocks_to_swap": 4, "cpu_offload_checkpointing": True, "gradient_checkpointing": True},),
        ({"blocks_to_swap": 0, "cpu_offload_checkpointing": True, "gradient_checkpointing": True},),
        where=TRANSFORMERS,
    ),
    Constraint(
        "unsloth",
        (
            {"unsloth_offload_checkpointing": True, "blocks_to_swap": 4},
            {"unsloth_offload_checkpointing": True, "cpu_offload_checkpointing": True},
        ),
        ({"unsloth_offload_checkpointing": True, "gradient_checkpointing": True},),
        where=named("anima_"),
    ),
    Constraint(
        "cpu-offload",
        ({"cpu_offload_checkpointing": True, "gradient_checkpointing": True},),
        ({"cpu_offload_checkpointing": True}, {"gradient_checkpointing": True}),
        where=lora,
    ),
    Constraint(
        "attention",
        ({"attn_mode": "xformers"}, {"attn_mode": "sageattn"}, {"attn_mode": "flash"}, {"attn_mode": None}),
        ({"attn_mode": "torch"}, {"attn_mode": "torch", "split_attn": True}),
        where=named("hunyuan_", "anima_"),
    ),
    Constraint(
        "xformers",
        ({"xformers": True}, {"use_flash_attn": True}, {"use_sage_attn": True}),
        ({"sdpa": True}, {"mem_eff_attn": True}),
    ),
    Constraint(
        "chroma",
        ({"model_type": "chroma"},),
        ({"model_type": "chroma", "apply_t5_attn_mask": True, "network_train_unet_only": True},),
        where=named("flux_"),
    ),
    Constraint("split-mode", ({"split_mode": True, "cpu_offload_checkpointing": True},), (), named("flux_")),
    Constraint("deepspeed", ({"deepspeed": True},)),
    Constraint(
        "tracker",
        ({"log_with": "tensorboard"}, {"log_with": "wandb"}, {"log_with": "all", "logging_dir": "@logs"}),
        ({"log_with": "tensorboard", "logging_dir": "@logs"}, {"logging_dir": "@logs"}),
    ),
    Constraint(
        "lllite",
        ({"cond_emb_dim": None}, {"network_dim": None}),
        where=named("sdxl_train_control_net_lllite"),
    ),
)

CURVE = ",".join(["1"] * 12)

NETWORKS = (
    Constraint(
        "network-args",
        ({"network_args": ["conv_dim"]}, {"network_args": ["conv_dim=four"]}),
        ({"network_args": ["conv_dim=4", "conv_alpha=1"]}, {"network_args": ["rank_dropout=0.1"]}),
        where=lora,
    ),
    Constraint(
        "blocks",
        (
            {"network_args": ["block_dims=" + ",".join(["4"] * 24)]},
            {"network_args": ["down_lr_weight=" + CURVE + ",1"]},
            {"network_args": ["up_lr_weight=a,b"]},
        ),
        (
            {"network_args": ["block_dims=" + ",".join(["4"] * 25)]},
            {"network_args": ["down_lr_weight=" + CURVE]},
            {"network_args": ["down_lr_weight=sine"]},
        ),
        where=named("train_network"),
    ),
    Constraint(
        "blocks-xl",
        ({"network_args": ["block_dims=" + ",".join(["4"] * 25)]},),
        ({"network_args": ["block_dims=" + ",".join(["4"] * 23)]},),
        where=named("sdxl_train_network"),
    ),
    Constraint(
        "dylora",
        (
            {"network_module": "networks.dylora", "network_dim": 4, "network_args": ["unit=3"]},
            {"network_module": "networks.dylora", "network_dim": 4, "network_args": ["conv_dim=8"]},
        ),
        ({"network_module": "networks.dylora", "network_dim": 4, "network_args": ["unit=2"]},),
        where=named("train_network", "sdxl_train_network"),
    ),
    Constraint(
        "oft",
        ({"network_module": "networks.oft", "network_train_text_encoder_only": True},),
        (
            {"network_module": "networks.oft", "network_dim": 4, "network_alpha": 1e-3},
            {"network_module": "networks.lora_fa", "network_dim": 4},
        ),
        where=named("train_network", "sdxl_train_network"),
    ),
    Constraint(
        "module-family",
        ({"network_module": "networks.lora"},),
        (),
        where=both(lora, TRANSFORMERS),
    ),
    Constraint(
        "flux-args",
        (
            {"network_args": ["train_blocks=triple"]},
            {"network_args": ["in_dims=1,2,3"]},
            {"network_args": ["train_double_block_indices=19"]},
            {"network_args": ["train_single_block_indices=0-38"]},
            {"network_module": "networks.oft_flux", "network_train_text_encoder_only": True},
            {"network_module": "networks.oft_flux", "network_dim": 5},
            {"network_args": ["split_qkv=True"]},
        ),
        (
            {"network_args": ["train_blocks=double"]},
            {"network_args": ["in_dims=1,2,3,4,5"]},
            {"network_args": ["train_double_block_indices=0,2-18"]},
            {"network_args": ["ggpo_beta=0.01", "ggpo_sigma=0.03"]},
        ),
        where=named("flux_train_network"),
    ),
    Constraint(
        "sd3-args",
        ({"network_args": ["emb_dims=1,2,3"]}, {"network_args": ["train_block_indices=99"]}),
        (
            {"network_args": ["split_qkv=True"]},
            {"network_args": ["emb_dims=1,2,3,4,5,6"]},
            {"network_args": ["train_block_indices=0-23"]},
        ),
        where=named("sd3_train_network"),
    ),
    Constraint(
        "lumina-args",
        (
            {"network_args": ["embedder_dims=1,2"]},
            {"network_args": ["train_blocks=double"]},
            {"network_args": ["split_qkv=True"]},
        ),
        (
            {"network_args": ["embedder_dims=1,2,3"]},
            {"network_args": ["train_blocks=refiners"]},
        ),
        where=named("lumina_train_network"),
    ),
    Constraint(
        "hunyuan-args",
        ({"network_args": ["network_reg_dims"]},),
        ({"network_args": ["split_qkv=True"]}, {"network_args": ["network_reg_dims=.*=2"]}),
        where=named("hunyuan_image_train_network"),
    ),
    Constraint(
        "anima-args",
        ({"network_args": ["exclude_patterns=mlp"]},),
        ({"network_args": ["exclude_patterns=['.*mlp.*']"]}, {"network_args": ["train_llm_adapter=True"]}),
        where=named("anima_train_network"),
    ),
)

CONSTRAINTS = (
    *(*PARSER, *PATHS, *LOSS, *PRECISION, *CACHES, *DATA),
    *(*OPTIMIZERS, *SCHEDULES, *SWAPS, *NETWORKS),
)
"""All of them."""
