"""A report: a comparison as one page that can be put in front of a design review.

Each module makes one part of the page as plain values; `page` alone knows HTML.
"""
