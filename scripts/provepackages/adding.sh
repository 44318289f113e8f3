# shellcheck shell=bash
# Machines added by ssh, for scripts/prove-packages: from the .deb and from the tarball, with and without systemd.

add_by_ssh() {
    step "A machine that has nothing but sshd, added from one with the package"
    local machine user
    # Else its package starts it at once, where the package manager is: in the network of this machine.
    mkdir -p "${roots[laptop]}/etc/ssh"
    touch "${roots[laptop]}/etc/ssh/sshd_not_to_be_run"
    for machine in workstation laptop; do apt "$machine" update; done
    apt laptop install openssh-server
    silently root laptop "mkdir -p /run/sshd && /usr/sbin/sshd"
    # Without polkitd, no user may let services run without a login.
    apt workstation install openssh-server polkitd
    for user in erin finn; do
        silently root workstation "useradd --create-home --shell /bin/sh $user"
        silently root laptop "useradd --create-home --shell /bin/sh $user"
    done
    apt workstation install /srv/$deb
    allow_services erin
    add erin workstation laptop
    apt workstation purge ubiquity-kvs
    step "A machine with systemd, added from one where the tarball is unpacked"
    run finn laptop "mkdir -p ~/.local && tar -xzf /srv/ubiquity-*.tar.gz -C ~/.local --strip-components 1"
    add finn laptop workstation
}

add() { # add USER HOME BOX: sets the machine HOME up, adds BOX from there, and takes all of it back
    local user="$1" home="$2" box="$3" version home_before box_before
    version=$(dpkg-deb --field "$packages/$deb" Version)
    trust "$@"
    use_codex "$user" "$home" 21
    home_before=$(traces "$user" "$home")
    run "$user" "$home" "ubq up --yes"
    use_codex "$user" "$box" 64
    box_before=$(traces "$user" "$box")
    run "$user" "$home" "ubq add $box --yes"
    expect "first numbers of $box: Codex"
    run "$user" "$box" "set -e; cd .local/bin; for name in *; do echo \$name \"\$(./\$name --version)\"; done"
    [ "$(grep -c " $version$" <<<"$seen")" = 7 ] || fail "not all seven programs run there"
    run "$user" "$box" "kvs --version && usage-view status"
    expect "64 %"
    run "$user" "$box" "ubq doctor"
    expect "nothing is wrong"
    run "$user" "$home" "usage-view"
    [ "$(grep -cE "^($home|$box) +online" <<<"$seen")" = 2 ] || fail "the $home does not show both machines"
    use_codex "$user" "$box" 77
    until_true "77 % on the $home" screen_shows "$user" "$home" "77 % used"
    run "$user" "$home" "ubq status"
    run "$user" "$home" "ubq add $box --remove --yes"
    leaves_no_trace "$user" "$box" "$box_before"
    run "$user" "$home" "kvsd device list"
    ! grep -qw "$box" <<<"$seen" || fail "the device of the $box stays"
    run "$user" "$home" "ubq down --yes"
    leaves_no_trace "$user" "$home" "$home_before"
}

trust() { # trust USER HOME BOX: the user's ssh leads from one to the other, and asks nothing
    silently "$1" "$2" "mkdir -m 700 .ssh && ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519"
    silently "$1" "$3" "mkdir -m 700 .ssh"
    cp "${roots[$2]}/home/$1/.ssh/id_ed25519.pub" "${roots[$3]}/home/$1/.ssh/authorized_keys"
    sed "s/^/$3 /" "${roots[$3]}/etc/ssh/ssh_host_ed25519_key.pub" >"${roots[$2]}/home/$1/.ssh/known_hosts"
    until_true "sshd on the $3" silently "$1" "$2" "ssh $3 true"
}

traces() { # traces USER MACHINE: what the user runs, has and may; data stays
    silently "$1" "$2" "find . /tmp /dev/shm -user $1 -regextype posix-extended \
        -not -regex '\./\.(local(/s.*)?|config)' 2>/dev/null | sort
        find /var/lib/systemd/linger -name $1 2>/dev/null
        find /proc -maxdepth 1 -user $1 -exec cat {}/comm ';' 2>/dev/null | grep -xE 'ubq|kvsd?|usage-.*|ssh'; true"
}
leaves_no_trace() { # leaves_no_trace USER MACHINE BEFORE
    local change
    change=$(diff <(echo "$3") <(traces "$1" "$2")) || fail "this is new on the $2: $change"
}
