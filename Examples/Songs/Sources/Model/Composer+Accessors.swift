// The accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler refers to.
// A misspelled or missing symbol does not link.
#if !canImport(ObjectiveC)
public import CoreData

extension Composer {
    private static let idProperty = ManagedProperty<UUID>("id")
    @usableFromInline @_silgen_name("$s5Songs8ComposerC2id20FoundationEssentials4UUIDVvg") final func _getId() -> UUID {
        self[Self.idProperty]
    }
    @usableFromInline @_silgen_name("$s5Songs8ComposerC2id20FoundationEssentials4UUIDVvs")
    final func _setId(_ value: consuming UUID) { self[Self.idProperty] = value }

    private static let nameProperty = ManagedProperty<String>("name")
    @usableFromInline @_silgen_name("$s5Songs8ComposerC4nameSSvg") final func _getName() -> String { self[Self.nameProperty] }
    @usableFromInline @_silgen_name("$s5Songs8ComposerC4nameSSvs")
    final func _setName(_ value: consuming String) { self[Self.nameProperty] = value }

    private static let songsProperty = ManagedProperty<Set<Song>>("songs")
    @usableFromInline @_silgen_name("$s5Songs8ComposerC5songsShyAA4SongCGvg") final func _getSongs() -> Set<Song> {
        self[Self.songsProperty]
    }
    @usableFromInline @_silgen_name("$s5Songs8ComposerC5songsShyAA4SongCGvs")
    final func _setSongs(_ value: consuming Set<Song>) { self[Self.songsProperty] = value }
}
#endif
