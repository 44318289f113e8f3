# shellcheck shell=bash
# Machines for scripts/prove-packages: roots of a distribution, each in namespaces of its own, on a network of their own.

declare -A roots leaders
containers=()
seen=

fail() {
    echo "prove-packages: $1" >&2
    exit 1
}
step() { printf '\n-- %s\n' "$1"; }

# The file of Ubuntu's archive key; fetched from the archive where no package has it, and then trusted by its fingerprint.
ubuntu_keyring() { # ubuntu_keyring MIRROR DIRECTORY
    local keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg directory="$2"
    local fingerprint=F6ECB3762474EDA9D21B7022871920D1991BC93C # Ubuntu Archive Automatic Signing Key (2018)
    [ -s "$keyring" ] || keyring="$directory/ubuntu.gpg"
    if [ ! -s "$keyring" ]; then
        mkdir -p "$directory/lists/partial" "$directory/gpg"
        chmod 700 "$directory/gpg"
        echo "deb [trusted=yes] $1 noble main" >"$directory/sources.list"
        local options=(-qq -o "Dir::Etc::SourceList=$directory/sources.list" -o Dir::Etc::SourceParts=-
            -o "Dir::State::Lists=$directory/lists" -o APT::Sandbox::User=root)
        apt-get "${options[@]}" update >&2 2>/dev/null || return 1
        (cd "$directory" && apt-get "${options[@]}" download ubuntu-keyring >&2) || return 1
        dpkg-deb -x "$directory"/ubuntu-keyring_*.deb "$directory/unpacked"
        gpg --quiet --homedir "$directory/gpg" --no-default-keyring --export \
            --keyring "$directory/unpacked/usr/share/keyrings/ubuntu-archive-keyring.gpg" "$fingerprint" >"$keyring"
        [ -s "$keyring" ] || fail "the archive's ubuntu-keyring does not contain the key $fingerprint"
    fi
    echo "$keyring"
}

# Makes the archive of a root unless there is one; fails if the distribution's mirror cannot be reached.
make_archive() { # make_archive DISTRIBUTION FILE [PACKAGES]
    [ -s "$2" ] && return
    local mirror=() options=(--format=tar --variant=minbase --skip=cleanup/apt/lists)
    case "$1" in
    noble)
        mirror=(http://archive.ubuntu.com/ubuntu)
        [ "$(dpkg --print-architecture)" = amd64 ] || mirror=(http://ports.ubuntu.com/ubuntu-ports)
        options+=("--keyring=$(ubuntu_keyring "${mirror[0]}" "$work/keyring")") || return 1
        ;;
    esac
    options+=("--include=apt${3:+,$3}") # which Ubuntu's minimum lacks
    echo "Making $2 …" >&2
    mmdebstrap --quiet "${options[@]}" "$1" "$2.part" "${mirror[@]}" >&2 || return 1
    mv "$2.part" "$2"
}

unpack() { # unpack MACHINE ARCHIVE
    roots[$1]="$work/$1"
    mkdir -p "$work/$1"
    tar -xf "$2" -C "$work/$1"
    cp -L /etc/resolv.conf "$work/$1/etc/resolv.conf"
    echo "$1" >"$work/$1/etc/hostname"
    cp "$packages"/* "$work/$1/srv/"
}

start() { # start MACHINE NSPAWN-OPTIONS…: starts its first process, and finds it
    local machine="$1" container
    shift
    systemd-nspawn --quiet --directory "${roots[$machine]}" --machine "$machine" --private-network --register=no \
        --keep-unit --resolv-conf=off --timezone=off --console=read-only "$@" >"$work/$machine.log" 2>&1 </dev/null &
    container=$!
    containers+=("$container")
    until_true "$machine" first_process "$container"
    leaders[$machine]=$(first_process "$container")
}
first_process() { # first_process CONTAINER: of its network
    local child
    for child in $(cat "/proc/$1/task/$1/children"); do
        if [ "$(readlink "/proc/$child/ns/net")" != "$(readlink /proc/self/ns/net)" ]; then
            echo "$child"
            return
        fi
    done
    return 1
}
stop_machines() {
    local container
    for container in "${containers[@]}"; do kill -TERM "$container" 2>/dev/null || true; done
    for container in "${containers[@]}"; do wait "$container" 2>/dev/null || true; done
    containers=()
}
connect() { # connect MACHINE ADDRESS MACHINE ADDRESS: by a cable; each knows the other by name
    ip link add name cable netns "${leaders[$1]}" type veth peer name cable netns "${leaders[$3]}"
    local machine address
    for machine in "$1" "$3"; do
        address="$2"
        [ "$machine" = "$1" ] || address="$4"
        nsenter --target "${leaders[$machine]}" --net ip address add "$address/24" dev cable
        nsenter --target "${leaders[$machine]}" --net ip link set cable up
        nsenter --target "${leaders[$machine]}" --net ip link set lo up
        printf '%s %s\n' "$2" "$1" "$4" "$3" >>"${roots[$machine]}/etc/hosts"
    done
}

# Runs a shell command as a user of a machine. The package manager is in the network of this machine, which has mirrors.
silently() { # silently USER MACHINE COMMAND
    local network=(--net) identity home
    case "$3" in apt-get*) network=() ;; esac
    identity=$(chroot "${roots[$2]}" id --user "$1") || fail "$2 has no user $1"
    home=$(chroot "${roots[$2]}" sh -c "echo ~$1")
    nsenter --target "${leaders[$2]}" --mount --uts --ipc --pid "${network[@]}" --root --wdns=/ -- \
        runuser -u "$1" -- env -i "HOME=$home" "USER=$1" LANG=C.UTF-8 TZ=UTC \
        "PATH=$home/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        DEBIAN_FRONTEND=noninteractive \
        "XDG_RUNTIME_DIR=/run/user/$identity" sh -c "cd; $3" </dev/null
}
# The same with a transcript; what it printed is in $seen.
run() { # run USER MACHINE COMMAND
    local prompt='$' status=0
    [ "$1" != root ] || prompt='#'
    echo "$1@$2$prompt $3"
    seen=$(silently "$@" 2>&1) || status=$?
    [ -z "$seen" ] || echo "$seen"
    [ "$status" -eq 0 ] || fail "the command exited with $status"
}
expect() { # expect TEXT: what the last command printed contains it
    grep -qF -- "$1" <<<"$seen" || fail "the output does not contain '$1'"
}
until_true() { # until_true WHAT COMMAND…: waits up to 120 s
    local what="$1" deadline=$((SECONDS + 120))
    shift
    while [ "$SECONDS" -lt "$deadline" ]; do
        if "$@" >/dev/null 2>&1; then return; fi
        read -rt 0.1 <> <(:) || true
    done
    fail "timed out waiting for $what"
}
