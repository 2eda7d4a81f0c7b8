// The accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler refers to.
// A misspelled or missing symbol does not link.
#if !canImport(ObjectiveC)
internal import CoreData

extension Track {
    private static let trackIdProperty = ManagedProperty<Int64>("track_id")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC8track_ids5Int64Vvg") final func _getTrackId() -> Int64 {
        self[Self.trackIdProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC8track_ids5Int64Vvs")
    final func _setTrackId(_ value: consuming Int64) { self[Self.trackIdProperty] = value }

    private static let albumIdProperty = ManagedProperty<Int64>("album_id")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC8album_ids5Int64Vvg") final func _getAlbumId() -> Int64 {
        self[Self.albumIdProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC8album_ids5Int64Vvs")
    final func _setAlbumId(_ value: consuming Int64) { self[Self.albumIdProperty] = value }

    private static let bandIdProperty = ManagedProperty<Int64>("band_id")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC7band_ids5Int64Vvg") final func _getBandId() -> Int64 { self[Self.bandIdProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC7band_ids5Int64Vvs")
    final func _setBandId(_ value: consuming Int64) { self[Self.bandIdProperty] = value }

    private static let numberProperty = ManagedProperty<Int16>("number")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC6numbers5Int16Vvg") final func _getNumber() -> Int16 { self[Self.numberProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC6numbers5Int16Vvs")
    final func _setNumber(_ value: consuming Int16) { self[Self.numberProperty] = value }

    private static let titleProperty = ManagedProperty<String>("title")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC5titleSSvg") final func _getTitle() -> String { self[Self.titleProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC5titleSSvs")
    final func _setTitle(_ value: consuming String) { self[Self.titleProperty] = value }

    private static let artistProperty = ManagedProperty<String?>("artist")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC6artistSSSgvg") final func _getArtist() -> String? { self[Self.artistProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC6artistSSSgvs")
    final func _setArtist(_ value: consuming String?) { self[Self.artistProperty] = value }

    private static let durationProperty = ManagedProperty<Double>("duration")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC8durationSdvg") final func _getDuration() -> Double { self[Self.durationProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC8durationSdvs")
    final func _setDuration(_ value: consuming Double) { self[Self.durationProperty] = value }

    private static let downloadableProperty = ManagedProperty<Int16>("downloadable")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC12downloadables5Int16Vvg") final func _getDownloadable() -> Int16 {
        self[Self.downloadableProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC12downloadables5Int16Vvs")
    final func _setDownloadable(_ value: consuming Int16) { self[Self.downloadableProperty] = value }

    private static let urlProperty = ManagedProperty<String?>("url")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC3urlSSSgvg") final func _getUrl() -> String? { self[Self.urlProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC3urlSSSgvs")
    final func _setUrl(_ value: consuming String?) { self[Self.urlProperty] = value }

    private static let streamingUrlProperty = ManagedProperty<String?>("streaming_url")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC13streaming_urlSSSgvg") final func _getStreamingUrl() -> String? {
        self[Self.streamingUrlProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC13streaming_urlSSSgvs")
    final func _setStreamingUrl(_ value: consuming String?) { self[Self.streamingUrlProperty] = value }

    private static let smallArtUrlProperty = ManagedProperty<String?>("small_art_url")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC13small_art_urlSSSgvg") final func _getSmallArtUrl() -> String? {
        self[Self.smallArtUrlProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC13small_art_urlSSSgvs")
    final func _setSmallArtUrl(_ value: consuming String?) { self[Self.smallArtUrlProperty] = value }

    private static let largeArtUrlProperty = ManagedProperty<String?>("large_art_url")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC13large_art_urlSSSgvg") final func _getLargeArtUrl() -> String? {
        self[Self.largeArtUrlProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC13large_art_urlSSSgvs")
    final func _setLargeArtUrl(_ value: consuming String?) { self[Self.largeArtUrlProperty] = value }

    private static let albumProperty = ManagedProperty<Album?>("album")
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC5albumAA5AlbumCSgvg") final func _getAlbum() -> Album? { self[Self.albumProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5TrackC5albumAA5AlbumCSgvs")
    final func _setAlbum(_ value: consuming Album?) { self[Self.albumProperty] = value }
}
#endif
