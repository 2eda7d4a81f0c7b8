// The accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler refers to.
// A misspelled or missing symbol does not link.
#if !canImport(ObjectiveC)
public import CoreData

extension Album {
    private static let idProperty = ManagedProperty<UUID>("id")
    @usableFromInline @_silgen_name("$s5Songs5AlbumC2id20FoundationEssentials4UUIDVvg") final func _getId() -> UUID {
        self[Self.idProperty]
    }
    @usableFromInline @_silgen_name("$s5Songs5AlbumC2id20FoundationEssentials4UUIDVvs")
    final func _setId(_ value: consuming UUID) { self[Self.idProperty] = value }

    private static let titleProperty = ManagedProperty<String>("title")
    @usableFromInline @_silgen_name("$s5Songs5AlbumC5titleSSvg") final func _getTitle() -> String { self[Self.titleProperty] }
    @usableFromInline @_silgen_name("$s5Songs5AlbumC5titleSSvs")
    final func _setTitle(_ value: consuming String) { self[Self.titleProperty] = value }

    private static let yearProperty = ManagedProperty<Int16>("year")
    @usableFromInline @_silgen_name("$s5Songs5AlbumC4years5Int16Vvg") final func _getYear() -> Int16 { self[Self.yearProperty] }
    @usableFromInline @_silgen_name("$s5Songs5AlbumC4years5Int16Vvs")
    final func _setYear(_ value: consuming Int16) { self[Self.yearProperty] = value }

    private static let songsProperty = ManagedProperty<Set<Song>>("songs")
    @usableFromInline @_silgen_name("$s5Songs5AlbumC5songsShyAA4SongCGvg") final func _getSongs() -> Set<Song> { self[Self.songsProperty] }
    @usableFromInline @_silgen_name("$s5Songs5AlbumC5songsShyAA4SongCGvs")
    final func _setSongs(_ value: consuming Set<Song>) { self[Self.songsProperty] = value }
}
#endif
