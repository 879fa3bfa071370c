"""Tables for people, as plain data; how they are drawn is the output's business."""
