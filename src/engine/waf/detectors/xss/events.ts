/** The names of events: attributes of HTML and SVG whose value is script. */

/**
 * Events of the HTML and SVG standards and of the DOM, without `on`. Before any tag, an event attribute must be one of
 * these, since prose has `once =`, `online =` and `only =`.
 */
export const EVENTS: ReadonlySet<string> = new Set(
  `abort activate afterprint afterscriptexecute afterupdate animationcancel animationend animationiteration animationstart
   auxclick beforeactivate beforecopy beforecut beforedeactivate beforeeditfocus beforeinput beforematch beforepaste
   beforeprint beforescriptexecute beforetoggle beforeunload beforeupdate begin blur bounce cancel canplay canplaythrough
   cellchange change click close command contextmenu contextlost contextrestored controlselect copy cuechange cut
   dataavailable datasetchanged datasetcomplete dblclick deactivate devicelight devicemotion deviceorientation drag
   dragdrop dragend dragenter dragexit dragleave dragover dragstart drop durationchange emptied end ended error errorupdate
   filterchange finish focus focusin focusout formchange formdata forminput fullscreenchange fullscreenerror gesturechange
   gestureend gesturestart gotpointercapture hashchange help input invalid keydown keypress keyup languagechange
   layoutcomplete load loadeddata loadedmetadata loadend loadstart losecapture lostpointercapture mediacomplete mediaerror
   message messageerror mousedown mouseenter mouseleave mousemove mouseout mouseover mouseup mousewheel move moveend movestart
   offline online orientationchange outofsync pagehide pageshow paste pause play playing pointercancel pointerdown
   pointerenter pointerleave pointermove pointerout pointerover pointerrawupdate pointerup popstate progress propertychange
   ratechange readystatechange rejectionhandled repeat reset resize resizeend resizestart resume reverse rowdelete rowenter
   rowexit rowinserted rowsdelete rowsinserted scroll scrollend search securitypolicyviolation seek seeked seeking select
   selectionchange selectstart show slotchange stalled start stop storage submit suspend syncrestored timeerror timeupdate
   toggle touchcancel touchend touchmove touchstart trackchange transitioncancel transitionend transitionrun transitionstart
   underflow unhandledrejection unload urlflip volumechange waiting webkitanimationend webkitanimationiteration
   webkitanimationstart webkittransitionend wheel zoom`.split(/\s+/),
);
