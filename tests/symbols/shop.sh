#!/bin/bash
# total in a comment
source ./store.sh
. "lib/more.sh"

LIMIT=10
export RATE="total $(total 1)"

total() {
    local part=$1
    echo 'total' "${#part}" # more total
    cat <<EOF
total of it
EOF
}

function show_all {
    total "$@" | sort
}

show_all
