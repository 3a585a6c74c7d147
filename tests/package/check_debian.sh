#!/usr/bin/env bash
# check_debian.sh SOURCES PACKAGES ROOT - as root: Debian's packages are installed in ROOT, which is emptied first and
# then a Debian 12 with nothing but apt, by mmdebstrap; there the lines of the README are run; and they are removed again,
# with all of their files.
set -euo pipefail
sources=$1 packages=$2 root=$3

names=(libperm1 libperm-dev perm python3-libperm)

for name in "${names[@]}"; do
    [[ -f $(echo "$packages/${name}"_*.deb) ]] || { echo "there is no package $name" && exit 1; }
done
# CPack's own scripts call ldconfig.
lintian --allow-root --fail-on error,warning "$packages"/*.deb --suppress-tags \
    maintscript-calls-ldconfig,pkg-config-unavailable-for-cross-compilation

rm -rf "$root"
mmdebstrap --quiet --variant=apt --skip=cleanup/apt bookworm "$root"
cp --remove-destination /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/packages" "$root/sources"
cp "$packages"/*.deb "$root/packages"
cp -r "$sources"/{README.md,docs,tests} "$root/sources"
there() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
echo "the command alone"
there sh -c 'apt-get install -qq -o DPkg::Use-Pty=0 --no-install-recommends /packages/libperm1_*.deb /packages/perm_*.deb >/dev/null'
there perm --version
test -s "$root/usr/share/man/man1/perm.1.gz"
echo "all of them, a compiler, numpy and scipy"
there sh -c 'apt-get install -qq -o DPkg::Use-Pty=0 --no-install-recommends /packages/*.deb gcc libc6-dev pkg-config \
    python3-numpy python3-scipy >/dev/null'
there python3 /sources/tests/package/check_readme.py
there python3 -c 'from libperm._core import quick; assert quick.compiled is not None'
there python3 -c 'from importlib.metadata import version; import libperm; assert version("libperm") == libperm.__version__'
there dpkg --verify "${names[@]}"

echo "removed again"
ours=$(there dpkg -L "${names[@]}" | grep perm | sort -u)
[[ -n $ours ]]
there apt-get purge -qq -o DPkg::Use-Pty=0 "${names[@]}" >/dev/null
while read -r path; do
    [[ ! -e $root$path ]] || { echo "$path is left" && exit 1; }
done <<<"$ours"
