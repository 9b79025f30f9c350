# Run as root by `unshare --mount --pid --fork sh tests/deploy/pid1.sh DATA USER PATH… -- COMMAND…`: becomes COMMAND as USER, without
# capabilities and as process 1. The file system is read-only, but for DATA, which is /mnt then. USER can reach each PATH,
# also below a folder that is root's alone.
set -eu
data=$1 user=$2
shift 2
mount --make-rprivate /
mount --bind "$data" /mnt

stash=$(mktemp -d) kept="" hidden="" number=0
while [ "$1" != -- ]; do
    folder=$1
    while [ "$folder" != / ]; do
        folder=$(dirname "$folder")
        case $(stat -c %a "$folder") in *[1357]) ;; *) alone=$folder ;; esac
    done
    if [ -n "${alone:-}" ]; then
        number=$((number + 1)) kept="$kept $1" hidden="$hidden $alone" alone=""
        mkdir "$stash/$number"
        mount --bind "$1" "$stash/$number"
    fi
    shift
done
shift
for folder in $(printf '%s\n' $hidden | sort -u); do
    mount -t tmpfs -o mode=755 tmpfs "$folder"
done
number=0
for folder in $kept; do
    number=$((number + 1))
    mkdir -p "$folder"
    mount --bind "$stash/$number" "$folder"
done

for mount in $(findmnt --raw --noheadings --output TARGET); do
    case $mount in /mnt | /mnt/* | /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) ;; *) mount -o remount,bind,ro "$mount" || true ;; esac
done
cd /mnt
if touch /written /tmp/written "$0.written" 2> /dev/null; then
    echo "the file system can be written to"
    exit 99
fi
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set -all --inh-caps -all "$@"
