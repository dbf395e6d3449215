# SPDX-License-Identifier: Apache-2.0
"""`python -m rknn`: the rknn command."""
from openrknn import main

if __name__ == "__main__":
    main()
