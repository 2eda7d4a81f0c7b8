// The accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler refers to.
// A misspelled or missing symbol does not link.
#if !canImport(ObjectiveC)
internal import CoreData
public import Foundation

extension Album {
    private static let albumIdProperty = ManagedProperty<Int64>("album_id")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC8album_ids5Int64Vvg") final func _getAlbumId() -> Int64 {
        self[Self.albumIdProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC8album_ids5Int64Vvs")
    final func _setAlbumId(_ value: consuming Int64) { self[Self.albumIdProperty] = value }

    private static let bandIdProperty = ManagedProperty<Int64>("band_id")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC7band_ids5Int64Vvg") final func _getBandId() -> Int64 { self[Self.bandIdProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC7band_ids5Int64Vvs")
    final func _setBandId(_ value: consuming Int64) { self[Self.bandIdProperty] = value }

    private static let titleProperty = ManagedProperty<String>("title")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC5titleSSvg") final func _getTitle() -> String { self[Self.titleProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC5titleSSvs")
    final func _setTitle(_ value: consuming String) { self[Self.titleProperty] = value }

    private static let releaseDateProperty = ManagedProperty<Date?>("release_date")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC12release_date20FoundationEssentials4DateVSgvg") final func _getReleaseDate()
        -> Date?
    { self[Self.releaseDateProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC12release_date20FoundationEssentials4DateVSgvs")
    final func _setReleaseDate(_ value: consuming Date?) { self[Self.releaseDateProperty] = value }

    private static let downloadableProperty = ManagedProperty<Int16>("downloadable")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC12downloadables5Int16Vvg") final func _getDownloadable() -> Int16 {
        self[Self.downloadableProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC12downloadables5Int16Vvs")
    final func _setDownloadable(_ value: consuming Int16) { self[Self.downloadableProperty] = value }

    private static let urlProperty = ManagedProperty<String?>("url")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC3urlSSSgvg") final func _getUrl() -> String? { self[Self.urlProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC3urlSSSgvs")
    final func _setUrl(_ value: consuming String?) { self[Self.urlProperty] = value }

    private static let smallArtUrlProperty = ManagedProperty<String?>("small_art_url")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC13small_art_urlSSSgvg") final func _getSmallArtUrl() -> String? {
        self[Self.smallArtUrlProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC13small_art_urlSSSgvs")
    final func _setSmallArtUrl(_ value: consuming String?) { self[Self.smallArtUrlProperty] = value }

    private static let largeArtUrlProperty = ManagedProperty<String?>("large_art_url")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC13large_art_urlSSSgvg") final func _getLargeArtUrl() -> String? {
        self[Self.largeArtUrlProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC13large_art_urlSSSgvs")
    final func _setLargeArtUrl(_ value: consuming String?) { self[Self.largeArtUrlProperty] = value }

    private static let bandProperty = ManagedProperty<Band?>("band")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC4bandAA4BandCSgvg") final func _getBand() -> Band? { self[Self.bandProperty] }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC4bandAA4BandCSgvs")
    final func _setBand(_ value: consuming Band?) { self[Self.bandProperty] = value }

    private static let tracksProperty = ManagedProperty<Set<Track>>("tracks")
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC6tracksShyAA5TrackCGvg") final func _getTracks() -> Set<Track> {
        self[Self.tracksProperty]
    }
    @usableFromInline @_silgen_name("$s8Bandcamp5AlbumC6tracksShyAA5TrackCGvs")
    final func _setTracks(_ value: consuming Set<Track>) { self[Self.tracksProperty] = value }
}
#endif
