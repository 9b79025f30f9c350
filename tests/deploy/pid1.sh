# Run as root by `unshare --mount --pid --fork sh tests/deploy/pid1.sh DATA USER MOUNT… -- COMMAND…`: makes the MOUNTs read-only but
# for DATA, which is /mnt then, and becomes COMMAND as USER, without capabilities and as process 1.
set -eu
data=$1 user=$2
shift 2
mount --make-rprivate /
mount --bind "$data" /mnt
while [ "$1" != -- ]; do
    mount -o remount,bind,ro "$1"
    shift
done
shift
cd /mnt
if touch "$(dirname "$0")/written" 2> /dev/null; then
    echo "the file system can be written to"
    exit 99
fi
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set -all --inh-caps -all "$@"
