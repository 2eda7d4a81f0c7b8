// The accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler refers to.
// A misspelled or missing symbol does not link.
#if !canImport(ObjectiveC)
public import CoreData

extension Song {
    private static let idProperty = ManagedProperty<UUID>("id")
    @usableFromInline @_silgen_name("$s5Songs4SongC2id20FoundationEssentials4UUIDVvg") final func _getId() -> UUID { self[Self.idProperty] }
    @usableFromInline @_silgen_name("$s5Songs4SongC2id20FoundationEssentials4UUIDVvs")
    final func _setId(_ value: consuming UUID) { self[Self.idProperty] = value }

    private static let nameProperty = ManagedProperty<String>("name")
    @usableFromInline @_silgen_name("$s5Songs4SongC4nameSSvg") final func _getName() -> String { self[Self.nameProperty] }
    @usableFromInline @_silgen_name("$s5Songs4SongC4nameSSvs")
    final func _setName(_ value: consuming String) { self[Self.nameProperty] = value }

    private static let durationProperty = ManagedProperty<Double>("duration")
    @usableFromInline @_silgen_name("$s5Songs4SongC8durationSdvg") final func _getDuration() -> Double { self[Self.durationProperty] }
    @usableFromInline @_silgen_name("$s5Songs4SongC8durationSdvs")
    final func _setDuration(_ value: consuming Double) { self[Self.durationProperty] = value }

    private static let trackNumberProperty = ManagedProperty<Int16>("trackNumber")
    @usableFromInline @_silgen_name("$s5Songs4SongC11trackNumbers5Int16Vvg") final func _getTrackNumber() -> Int16 {
        self[Self.trackNumberProperty]
    }
    @usableFromInline @_silgen_name("$s5Songs4SongC11trackNumbers5Int16Vvs")
    final func _setTrackNumber(_ value: consuming Int16) { self[Self.trackNumberProperty] = value }

    private static let lyricsProperty = ManagedProperty<String?>("lyrics")
    @usableFromInline @_silgen_name("$s5Songs4SongC6lyricsSSSgvg") final func _getLyrics() -> String? { self[Self.lyricsProperty] }
    @usableFromInline @_silgen_name("$s5Songs4SongC6lyricsSSSgvs")
    final func _setLyrics(_ value: consuming String?) { self[Self.lyricsProperty] = value }

    private static let albumProperty = ManagedProperty<Album?>("album")
    @usableFromInline @_silgen_name("$s5Songs4SongC5albumAA5AlbumCSgvg") final func _getAlbum() -> Album? { self[Self.albumProperty] }
    @usableFromInline @_silgen_name("$s5Songs4SongC5albumAA5AlbumCSgvs")
    final func _setAlbum(_ value: consuming Album?) { self[Self.albumProperty] = value }

    private static let composersProperty = ManagedProperty<Set<Composer>>("composers")
    @usableFromInline @_silgen_name("$s5Songs4SongC9composersShyAA8ComposerCGvg") final func _getComposers() -> Set<Composer> {
        self[Self.composersProperty]
    }
    @usableFromInline @_silgen_name("$s5Songs4SongC9composersShyAA8ComposerCGvs")
    final func _setComposers(_ value: consuming Set<Composer>) { self[Self.composersProperty] = value }
}
#endif
